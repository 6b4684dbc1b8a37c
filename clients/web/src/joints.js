/**
 * Draws joints as thin lines: from each dynamic body to its anchor, between the two anchors, and along the axis about or along
 * which the joint moves. Joints are part of the page's subscription, so that a broken joint disappears with the frame that
 * removes it. While they are not asked for, rods, ropes and springs (distance joints) are lines all the same: they are things that one
 * expects to see.
 */
import { BufferAttribute, BufferGeometry, Color, LineBasicMaterial, LineSegments, Points, PointsMaterial, Quaternion, Vector3 } from "three";

/** Most lines of a joint: two arms, the line between the anchors, two axes. */
const LINES = 5;
const ARM = new Color(0x9fc3d8), BETWEEN = new Color(0xffd166), AXIS = new Color(0xff8f4d), ANCHOR = new Color(0x5fe0ff);
const LINE = new Color(0x2b2f36);
/** Of more distance joints, none are drawn unasked. */
const UNASKED_MAX = 2000;
/** Half the length of an axis, as a share of the camera's distance. */
const AXIS_SHARE = 0.018;
/** Axes that are drawn, by joint type: the side whose frame has the axis, and its index. The axle of a wheel belongs to b. */
const AXES = {
  revolute: [["a", 0]],
  prismatic: [["a", 0]],
  cylindrical: [["a", 0]],
  universal: [["a", 0], ["b", 1]],
  wheel: [["a", 0], ["b", 2]],
};
const STATUS_STATIC = 1;
const UNITS = [new Vector3(1, 0, 0), new Vector3(0, 1, 0), new Vector3(0, 0, 1)];
const turnOf = ([w, x, y, z]) => new Quaternion(x, y, z, w);

export class JointLines {
  #capacity = 0;
  #lines = 0;

  constructor(scene) {
    this.lines = new LineSegments(new BufferGeometry(),
      new LineBasicMaterial({ vertexColors: true, depthTest: false, transparent: true }));
    this.points = new Points(new BufferGeometry(),
      new PointsMaterial({ color: ANCHOR, size: 4, sizeAttenuation: false, depthTest: false, transparent: true }));
    for (const object of [this.lines, this.points]) {
      object.frustumCulled = false;
      object.renderOrder = 1;
      object.visible = false;
      scene.add(object);
    }
    this.on = false;
    /** Joints drawn. */
    this.count = 0;
  }

  /** Allocates buffers for this many joints. */
  #fit(count) {
    if (count <= this.#capacity) return;
    this.#capacity = 2 ** Math.ceil(Math.log2(count));
    const set = (object, names, points) => {
      object.geometry.dispose();
      object.geometry = new BufferGeometry();
      for (const name of names) object.geometry.setAttribute(name, new BufferAttribute(new Float32Array(points * 3), 3));
    };
    set(this.lines, ["position", "color"], this.#capacity * LINES * 2);
    set(this.points, ["position"], this.#capacity * 2);
  }

  #line(from, to, colour) {
    const { position, color } = this.lines.geometry.attributes, at = this.#lines++ * 6;
    from.toArray(position.array, at);
    to.toArray(position.array, at + 3);
    colour.toArray(color.array, at);
    colour.toArray(color.array, at + 3);
  }

  /** One side of a joint: {origin (null for the world or a static body), anchor, turn}, or null if its body is not drawn. */
  #side(crowd, mirror, moment, body, point, frame) {
    const anchor = new Vector3(...point), turn = turnOf(frame);
    if (body === 0) return { origin: null, anchor, turn };
    const pose = crowd.poseOf(mirror, moment, body);
    if (pose === null) return null;
    const still = mirror.status[mirror.slots.get(body) * 2] === STATUS_STATIC;
    return { origin: still ? null : pose.position, anchor: anchor.applyQuaternion(pose.rotation).add(pose.position),
      turn: pose.rotation.clone().multiply(turn) };
  }

  #draw(joint, sides, eye) {
    for (const { origin, anchor } of Object.values(sides)) {
      anchor.toArray(this.points.geometry.attributes.position.array, this.shown++ * 3);
      if (origin !== null) this.#line(origin, anchor, ARM);
    }
    if (sides.a && sides.b) this.#line(sides.a.anchor, sides.b.anchor, BETWEEN);
    for (const [side, axis] of AXES[joint.type] ?? []) {
      if (!sides[side]) continue;
      const { anchor, turn } = sides[side];
      const half = UNITS[axis].clone().applyQuaternion(turn).multiplyScalar(AXIS_SHARE * eye.distanceTo(anchor));
      this.#line(anchor.clone().sub(half), anchor.clone().add(half), AXIS);
    }
  }

  /** Called once per picture. */
  draw(crowd, mirror, moment, camera) {
    const all = [...mirror.joints.items.values()], distances = this.on ? [] : all.filter(({ type }) => type === "distance");
    const joints = this.on ? all : distances.length > UNASKED_MAX ? [] : distances;
    this.count = this.shown = this.#lines = 0;
    this.lines.visible = joints.length > 0;
    this.points.visible = this.on && joints.length > 0;
    if (joints.length === 0) return;
    this.#fit(joints.length);
    // Asked for, they are seen through bodies.
    this.lines.material.depthTest = !this.on;
    for (const joint of joints) {
      const sides = {
        a: this.#side(crowd, mirror, moment, joint.a, joint.pointA, joint.frameA),
        b: this.#side(crowd, mirror, moment, joint.b, joint.pointB, joint.frameB),
      };
      for (const side of ["a", "b"]) if (sides[side] === null) delete sides[side];
      if (!this.on) {
        if (sides.a && sides.b) this.#line(sides.a.anchor, sides.b.anchor, LINE);
        continue;
      }
      this.#draw(joint, sides, camera.position);
      this.count++;
    }
    this.lines.geometry.setDrawRange(0, this.#lines * 2);
    this.points.geometry.setDrawRange(0, this.shown);
    for (const { attributes } of [this.lines.geometry, this.points.geometry])
      for (const attribute of Object.values(attributes)) attribute.needsUpdate = true;
  }
}
