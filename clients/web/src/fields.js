/**
 * Draws force fields: the border of the region, and arrows that tell the direction of the force in it (of a drag or
 * fluid: of the medium's motion). The page asks the server for the fields often while they are shown, else from time to
 * time, because the surfaces of fluids are always drawn. A mutual field has no place: it is drawn between bodies (pulls.js).
 */
import { BoxGeometry, BufferGeometry, DoubleSide, EdgesGeometry, Group, LineBasicMaterial, LineSegments, Mesh, MeshBasicMaterial,
  PlaneGeometry, Quaternion, Vector3 } from "three";
import { shapes } from "cairn-client";
import { Pulls } from "./pulls.js";

/** Time between two queries while fields are shown, and while only fluids are, ms. */
const QUERY_MS = 500, FLUID_MS = 3000;
const COLOURS = { wind: 0x8fd3ff, vortex: 0xc7a6ff, attractor: 0xff9f6b, drag: 0x9be39b, fluid: 0x4a90c8 };
/** Half size of what stands for a field without a border, m. */
const NOMINAL = 2;
/** Side of the surface of a fluid without a border, and its depth in a planar world, m. */
const SEA = 400;
/** Radius of a ball with all bodies, m. */
const EVERYWHERE = 1e5;
const CIRCLE = Array.from({ length: 49 }, (_, i) => [Math.cos(i * Math.PI / 24), Math.sin(i * Math.PI / 24)]);
const Y = new Vector3(0, 1, 0), Z = new Vector3(0, 0, 1);

/** The three numbers of a ball or a box by which arrows are placed. */
function extent({ region, half }) {
  if (region === "everywhere") return new Vector3(NOMINAL, NOMINAL, NOMINAL);
  return region === "ball" ? new Vector3(half[0], half[0], half[0]) : new Vector3(...half);
}

/** Adds the lines of an arrow, in the field's axes. */
function arrow(lines, from, to) {
  const way = to.clone().sub(from), length = way.length();
  if (!(length > 0)) return;
  const side = (Math.abs(way.y) < 0.9 * length ? Y : Z).clone().cross(way).setLength(0.12 * length);
  const back = from.clone().lerp(to, 0.75);
  lines.push(from, to, to, back.clone().add(side), to, back.clone().sub(side));
}

/** Adds a circle about an axis (0 x, 1 y, 2 z). */
function circle(lines, axis, radius, height = 0) {
  const at = ([c, s]) => {
    const numbers = [0, 0, 0];
    numbers[axis] = height;
    numbers[(axis + 1) % 3] = radius * c;
    numbers[(axis + 2) % 3] = radius * s;
    return new Vector3(...numbers);
  };
  for (let i = 1; i < CIRCLE.length; i++) lines.push(at(CIRCLE[i - 1]), at(CIRCLE[i]));
}

/** Parallel arrows along `direction`, spread over the extent. */
function stream(lines, direction, size) {
  const half = direction.clone().setLength(0.35 * Math.min(size.x, size.y, size.z));
  for (const x of [-0.6, 0, 0.6])
    for (const y of [-0.6, 0, 0.6])
      for (const z of [-0.6, 0, 0.6]) {
        const centre = new Vector3(x, y, z).multiply(size);
        arrow(lines, centre.clone().sub(half), centre.clone().add(half));
      }
}

/** Arrows along the motion of a medium. */
function flow(lines, { velocity, rotation }, size) {
  const medium = new Vector3(...velocity), [w, x, y, z] = rotation;
  if (medium.length() > 0) stream(lines, medium.applyQuaternion(new Quaternion(-x, -y, -z, w)), size);
}

const GLYPHS = {
  wind(lines, { strength }, size) {
    stream(lines, new Vector3(...strength), size);
  },
  vortex(lines, { strength: [around, along] }, size, planar) {
    const axis = planar ? 2 : 1, radius = 0.6 * Math.min(size.x, planar ? size.y : size.z);
    const up = new Vector3().setComponent(axis, 1);
    circle(lines, axis, radius);
    for (const [c, s] of [[1, 0], [0, 1], [-1, 0], [0, -1]]) {
      const out = new Vector3().setComponent((axis + 1) % 3, radius * c).setComponent((axis + 2) % 3, radius * s);
      const turn = up.clone().cross(out).setLength(0.5 * radius * Math.sign(around || 1));
      arrow(lines, out, out.clone().add(turn));
    }
    if (along !== 0 && !planar) arrow(lines, new Vector3(), up.multiplyScalar(0.8 * size.y * Math.sign(along)));
  },
  attractor(lines, { strength: [pull] }, size) {
    for (const axis of [0, 1, 2])
      for (const sign of [-1, 1]) {
        const far = new Vector3().setComponent(axis, sign * 0.9 * size.getComponent(axis)), near = far.clone().multiplyScalar(0.3);
        arrow(lines, pull >= 0 ? far : near, pull >= 0 ? near : far);
      }
  },
  drag: flow,
  fluid: flow,
};

/** The surface of a fluid, in the field's axes; in a planar world, where it is a line, the fluid below it. */
function surface({ region, half: [x, y, z] }, planar) {
  const box = region === "box", top = box ? y : 0, wide = box ? 2 * x : SEA, deep = box ? 2 * (planar ? y : z) : SEA;
  const material = new MeshBasicMaterial({ color: COLOURS.fluid, transparent: true, opacity: 0.4, side: DoubleSide, depthWrite: false });
  const sheet = new Mesh(new PlaneGeometry(wide, deep), material);
  sheet.position.y = planar ? top - deep / 2 : top;
  if (!planar) sheet.rotation.x = -Math.PI / 2;
  return sheet;
}

/** The border and arrows of one field, and of a fluid its surface. */
function figure(field, planar) {
  const { position, rotation: [w, x, y, z], region, kind } = field;
  const size = extent(field), group = new Group(), lines = [];
  const material = new LineBasicMaterial({ color: COLOURS[kind], transparent: true, opacity: 0.8 });
  if (kind === "fluid") group.add(surface(field, planar));
  if (region === "ball") for (const axis of [0, 1, 2]) circle(lines, axis, size.x);
  GLYPHS[kind](lines, field, size, planar);
  group.add(new LineSegments(new BufferGeometry().setFromPoints(lines), material));
  if (region === "box") group.add(new LineSegments(new EdgesGeometry(new BoxGeometry(2 * size.x, 2 * size.y, 2 * size.z)), material));
  group.position.set(...position);
  group.quaternion.set(x, y, z, w);
  return group;
}

export class Fields {
  #asked = -Infinity;
  #waiting = false;
  #shown = "";
  #world = null;

  constructor(scene) {
    this.group = new Group();
    this.pulls = new Pulls();
    scene.add(this.group, this.pulls.group);
    this.on = false;
    /** Fields drawn. */
    this.count = 0;
    /** Grows with each change of the drawing. */
    this.version = 0;
  }

  /** Called once per picture: asks for the fields if that is due. Those of a world that was left are not shown. */
  refresh(world, mirror, planar, now) {
    if (world !== this.#world) {
      this.#world = world;
      this.#asked = -Infinity;
      this.#draw([], planar);
      this.pulls.take([], mirror);
    }
    this.pulls.group.visible = this.on;
    if (this.on) this.pulls.move(mirror);
    this.group.traverse((object) => { if (object instanceof LineSegments) object.visible = this.on; });
    if (this.#waiting || now - this.#asked < (this.on ? QUERY_MS : FLUID_MS)) return;
    this.#asked = now;
    this.#waiting = true;
    this.#ask(world, mirror, planar).catch(() => {}).finally(() => { this.#waiting = false; });
  }

  async #ask(world, mirror, planar) {
    const fields = await world.fields();
    if (world === this.#world) this.#draw(fields, planar);
    const bodies = this.on ? await Pulls.ask(world, fields, shapes.sphere(EVERYWHERE)) : [];
    if (world !== this.#world || !this.pulls.take(bodies, mirror)) return;
    this.version++;
  }

  #draw(fields, planar) {
    const shown = JSON.stringify(fields);
    if (shown === this.#shown) return;
    this.#shown = shown;
    this.version++;
    this.group.traverse(({ geometry, material }) => { geometry?.dispose(); material?.dispose(); });
    this.group.clear();
    for (const field of fields) if (field.kind !== "mutual") this.group.add(figure(field, planar));
    this.count = fields.length;
  }
}
