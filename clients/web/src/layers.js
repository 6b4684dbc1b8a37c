/**
 * Layers that show what a picture does not: velocities, the axes of bodies, their boxes, the points that carry bodies, which bodies are
 * solved together, and which sleep; with a legend. Lines are one draw call; islands and sleep paint the bodies.
 */
import { BufferAttribute, BufferGeometry, Color, LineBasicMaterial, LineSegments, Vector3 } from "three";
import { FLAG } from "cairn-client";
import { islandsOf } from "./islands.js";
import { Side } from "./side.js";

/** The way of this time is drawn as a body's velocity, s. */
const VELOCITY_S = 0.25;
/** Lengths of axes and of an arrow's head, as a share of the body's box and of the arrow. */
const AXIS = 0.75, HEAD = 0.2;
/** A slower body has no arrow, m/s. */
const SLOWEST = 0.01;
/** Period of the questions about contacts that islands are found from, and about carriers, ms; most points and bodies of an answer. */
const QUERY_MS = 500, CONTACTS_MAX = 4096, CARRIED_MAX = 4096;
/** Half the size of the mark of a point that carries, as a share of the distance of the body's first two points. */
const MARK = 0.04;
const STATUS_STATIC = 1, STATUS_DYNAMIC = 2;
const VELOCITY = new Color(0x35c46a), BOX = new Color(0xd8dde2), AWAKE = new Color(0xe0843a), ASLEEP = new Color(0x4a78b8);
const LONE = new Color(0x9aa0a6), CARRIER = new Color(0xd6409f);
const AXES = [new Color(0xe5484d), new Color(0x30a46c), new Color(0x3e7bfa)];
const UNITS = [[1, 0, 0], [0, 1, 0], [0, 0, 1]].map((unit) => new Vector3(...unit));
/** Pairs of corners of a box that an edge joins; the bits of a corner choose the upper end of x, y and z. */
const EDGES = Array.from({ length: 8 }, (_, corner) => [1, 2, 4].filter((bit) => !(corner & bit)).map((bit) => [corner, corner | bit])).flat();
/** Lines of a body in each layer; those of carriers have no body of their own. */
const LINES = { velocity: 3, frames: 3, boxes: EDGES.length, carriers: 0 };
/** Lines of a point that carries: to its body, and a mark of two. */
const POINT_LINES = 3;
export const LAYERS = ["velocity", "frames", "boxes", "carriers", "islands", "sleep"];

/** A colour for each island: hues by the golden ratio, so that neighbours in the list differ. */
const islandColour = (i) => new Color().setHSL((i * 0.61803398875 + 0.02) % 1, 0.55, 0.55);

export class Layers extends Side {
  #capacity = 0;
  #lines = 0;
  #at = -Infinity;
  #waiting = false;
  #islands = new Map();
  /** [{body, points, off}, …] of the last answer. */
  #carried = [];
  #carriersAt = -Infinity;
  #carriersWait = false;
  #colours = new Map();
  #painted = () => {};

  /** @param parts {root, button, scene, painted(paint): how bodies are painted, or null: as always} */
  constructor({ root, button, scene, painted }) {
    super(root, button);
    this.#painted = painted;
    this.lines = new LineSegments(new BufferGeometry(), new LineBasicMaterial({ vertexColors: true, depthTest: false, transparent: true }));
    Object.assign(this.lines, { frustumCulled: false, renderOrder: 1, visible: false });
    scene.add(this.lines);
    /** Grows with each change. */
    this.version = 0;
    this.boxes = Object.fromEntries(LAYERS.map((name) => [name, root.querySelector(`[name=${name}]`)]));
    for (const name of LAYERS) this.boxes[name].onchange = () => this.#switched(name);
    [this.why, this.carriersWhy] = ["islands-why", "carriers-why"].map((name) => root.querySelector(`output[name=${name}]`));
  }

  on(name) { return this.boxes[name].checked; }

  /** Islands and sleep both paint bodies: one of them is on. */
  #switched(name) {
    const other = { islands: "sleep", sleep: "islands" }[name];
    if (other !== undefined && this.on(name)) this.boxes[other].checked = false;
    this.#at = this.#carriersAt = -Infinity;
    this.#paint();
  }

  #paint() {
    this.version++;
    if (!this.on("islands")) this.why.textContent = "";
    if (!this.on("carriers")) this.carriersWhy.textContent = "";
    this.#painted(this.on("sleep") ? sleepColour : this.on("islands") ? (mirror, id) => this.#islandColour(mirror, id) : null);
  }

  #islandColour(mirror, id) {
    const island = this.#islands.get(id);
    if (island === undefined) return mirror.status[mirror.slots.get(id) * 2] === STATUS_DYNAMIC ? LONE : null;
    if (!this.#colours.has(island)) this.#colours.set(island, islandColour(this.#colours.size));
    return this.#colours.get(island);
  }

  /** The number of islands of two bodies and more. */
  get islands() { return new Set(this.#islands.values()).size; }

  /** A world was left. */
  clear() {
    this.#islands = new Map();
    this.#colours.clear();
    this.#carried = [];
    this.#at = this.#carriersAt = -Infinity;
    this.version++;
  }

  /** Called once per picture: asks for contacts if islands are shown, and for carriers if these are. */
  refresh(world, mirror, now) {
    this.#askCarriers(world, now);
    this.#askIslands(world, mirror, now);
  }

  #askCarriers(world, now) {
    if (!this.on("carriers") || this.#carriersWait || now - this.#carriersAt < QUERY_MS) return;
    this.#carriersAt = now;
    this.#carriersWait = true;
    world.carriers(0, { limit: CARRIED_MAX }).then((carried) => {
      if (!this.on("carriers")) return;
      const off = Math.max(0, ...carried.map((of) => of.off)), points = new Set(carried.flatMap((of) => of.points));
      const more = carried.length < CARRIED_MAX ? "" : "; there may be more";
      this.#carried = carried;
      this.carriersWhy.textContent = carried.length === 0 ? "No points carry bodies."
        : `${points.size} points carry ${carried.length} bodies${more}; they are off their places by up to ${off.toPrecision(2)} m.`;
      this.version++;
    }, ({ message }) => { this.carriersWhy.textContent = message; }).finally(() => { this.#carriersWait = false; });
  }

  #askIslands(world, mirror, now) {
    if (!this.on("islands") || this.#waiting || now - this.#at < QUERY_MS) return;
    this.#at = now;
    this.#waiting = true;
    world.contacts(0, CONTACTS_MAX).then((contacts) => {
      const moves = (id) => mirror.slots.has(id) && mirror.status[mirror.slots.get(id) * 2] === STATUS_DYNAMIC;
      const joints = [...mirror.joints.items.values()].map(({ a, b }) => [a, b]);
      const islands = islandsOf(contacts.filter(({ separation, impulse }) => separation <= 0 || impulse > 0).map(({ a, b }) => [a, b])
        .concat(joints), moves);
      const changed = islands.size !== this.#islands.size || [...islands].some(([id, island]) => this.#islands.get(id) !== island);
      this.#islands = islands;
      this.why.textContent = contacts.length < CONTACTS_MAX ? `${this.islands} islands of two bodies and more`
        : `The first ${CONTACTS_MAX} contact points; there are more, and islands may be larger than shown.`;
      if (changed) this.#paint();
    }, ({ message }) => { this.why.textContent = message; }).finally(() => { this.#waiting = false; });
  }

  #fit(lines) {
    if (lines <= this.#capacity) return;
    this.#capacity = 2 ** Math.ceil(Math.log2(lines));
    this.lines.geometry.dispose();
    this.lines.geometry = new BufferGeometry();
    for (const name of ["position", "color"])
      this.lines.geometry.setAttribute(name, new BufferAttribute(new Float32Array(this.#capacity * 6), 3));
  }

  #line(from, to, colour) {
    const { position, color } = this.lines.geometry.attributes, at = this.#lines++ * 6;
    from.toArray(position.array, at);
    to.toArray(position.array, at + 3);
    colour.toArray(color.array, at);
    colour.toArray(color.array, at + 3);
  }

  /** An arrow whose head lies in the plane that faces the camera. */
  #arrow(from, way, eye) {
    const to = from.clone().add(way), side = eye.clone().sub(to).cross(way).setLength(way.length() * HEAD * 0.5);
    const back = to.clone().addScaledVector(way, -HEAD);
    this.#line(from, to, VELOCITY);
    this.#line(to, back.clone().add(side), VELOCITY);
    this.#line(to, back.sub(side), VELOCITY);
  }

  #box({ min, max }) {
    const corner = (k) => new Vector3(k & 1 ? max.x : min.x, k & 2 ? max.y : min.y, k & 4 ? max.z : min.z);
    for (const [a, b] of EDGES) this.#line(corner(a), corner(b), BOX);
  }

  /** Draws the points that carry a body: a mark at each, and a line to the body's origin. */
  #carrier(crowd, mirror, moment, { body, points }) {
    const pose = crowd.poseOf(mirror, moment, body), places = points.map((id) => crowd.poseOf(mirror, moment, id));
    if (pose === null || places.includes(null)) return;
    const size = MARK * places[0].position.distanceTo(places[1].position);
    for (const { position } of places) {
      this.#line(position, pose.position, CARRIER);
      for (const side of [-1, 1]) {
        const way = new Vector3(size, side * size, 0);
        this.#line(position.clone().sub(way), position.clone().add(way), CARRIER);
      }
    }
  }

  /** Called once per picture. */
  draw(crowd, mirror, moment, camera) {
    const shown = Object.keys(LINES).filter((name) => this.on(name));
    const carried = this.on("carriers") ? this.#carried : [];
    this.#lines = 0;
    this.lines.visible = shown.length > 0;
    if (shown.length === 0) return;
    this.#fit(Math.max(mirror.count, 1) * shown.reduce((sum, name) => sum + LINES[name], 1) +
      POINT_LINES * carried.reduce((sum, { points }) => sum + points.length, 0));
    for (const of of carried) this.#carrier(crowd, mirror, moment, of);
    for (const [id, slot] of mirror.slots) {
      const drawn = crowd.drawnBox(mirror, moment, id);
      if (drawn === null) continue; // a half-space, or not in this picture
      const { pose, box } = drawn, size = box.getSize(new Vector3());
      if (this.on("velocity")) {
        const way = new Vector3().fromArray(mirror.velocity, slot * 3);
        if (way.length() > SLOWEST) this.#arrow(pose.position, way.multiplyScalar(VELOCITY_S), camera.position);
      }
      if (this.on("frames") && mirror.status[slot * 2] !== STATUS_STATIC)
        UNITS.forEach((unit, i) => this.#line(pose.position, unit.clone().applyQuaternion(pose.rotation)
          .multiplyScalar(AXIS * Math.max(size.x, size.y, size.z)).add(pose.position), AXES[i]));
      if (this.on("boxes")) this.#box(box);
    }
    this.lines.geometry.setDrawRange(0, this.#lines * 2);
    for (const attribute of Object.values(this.lines.geometry.attributes)) attribute.needsUpdate = true;
  }

  /** Lines drawn in the last picture. */
  get count() { return this.lines.visible ? this.#lines : 0; }
}

/** Of dynamic bodies: whether they sleep. */
function sleepColour(mirror, id) {
  const slot = mirror.slots.get(id);
  if (mirror.status[slot * 2] !== STATUS_DYNAMIC) return null;
  return mirror.status[slot * 2 + 1] & FLAG.asleep ? ASLEEP : AWAKE;
}
