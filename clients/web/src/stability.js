/**
 * Whether the bodies stand: the forces of contacts and joints that hold them as arrows, the contacts that break as crosses, the
 * accelerations with which a fall begins, and the verdict and the margins as text; and where it would come to rest, as outlines of
 * the bodies there with arrows to them. The server is asked when the layer is switched on,
 * when the user asks, and when bodies have moved and are at rest again; one query at a time, because each may take it seconds.
 */
import {
  BufferAttribute, BufferGeometry, CanvasTexture, Color, DynamicDrawUsage, Group, InstancedMesh, LatheGeometry, LineBasicMaterial, LineSegments, Matrix4,
  MeshBasicMaterial, Points, PointsMaterial, Quaternion, Vector2, Vector3,
} from "three";
import { newtons } from "./inspector.js";

/** Most contacts, and most bodies, that are drawn: the most that an answer has. */
const DRAWN_MAX = 4096;
/** Bodies that have not changed for this long, ms, are at rest. */
const REST_MS = 500;
/** Length of the longest arrow, as a share of the second largest size of a body, of which half of the bodies have a larger one. */
const LONGEST = 0.9;
/** A force or an acceleration with a smaller share of the largest one is not drawn. */
const LEAST = 1e-4;
/** Opacity of the drawing, and once it tells of a state that has passed. */
const FRESH = 0.95, STALE = 0.3;
const FORCE = new Color(0x2f8fe8), JOINT = new Color(0xe0a526), FALL = new Color(0xb06be0), END = new Color(0x18b39a);
/** The ends of the edges of a box, as corners whose bits choose the maximum along x, y and z. */
const EDGES = [1, 2, 4].flatMap((axis) => [0, 1, 2, 3, 4, 5, 6, 7].filter((corner) => !(corner & axis)).flatMap((corner) => [corner, corner | axis]));
const UP = new Vector3(0, 1, 0);
const AXES = { "+x": [1, 0, 0], "−x": [-1, 0, 0], "+y": [0, 1, 0], "−y": [0, -1, 0], "+z": [0, 0, 1], "−z": [0, 0, -1] };
/** Directions in which each margin is asked for: a tilt goes along the ground, a load along gravity. */
const ALONG = { tilt: ["+x", "−x", "+z", "−z"], push: Object.keys(AXES), load: ["gravity"] };
const NEEDS_BODY = ["push", "load"];

/** An arrow of length 1 along y. */
const arrow = () => new LatheGeometry([[0, 0], [0.035, 0], [0.035, 0.7], [0.11, 0.7], [0, 1]].map(([x, y]) => new Vector2(x, y)), 8);

/** The texture of a cross. */
function cross() {
  const canvas = document.createElement("canvas"), context = canvas.getContext("2d");
  canvas.width = canvas.height = 32;
  for (const [colour, width] of [["#fff", 11], ["#e5282d", 8]]) {
    Object.assign(context, { strokeStyle: colour, lineWidth: width, lineCap: "round" });
    for (const [from, to] of [[6, 26], [26, 6]]) {
      context.beginPath();
      context.moveTo(6, from);
      context.lineTo(26, to);
      context.stroke();
    }
  }
  return new CanvasTexture(canvas);
}

/** A margin in words: newtons, or the tangent of a tilt with its angle. */
export function marginText(kind, value) {
  if (value === Infinity) return "no limit";
  return kind === "tilt" ? `${value.toFixed(4)} (${(Math.atan(value) * 180 / Math.PI).toFixed(2)}°)` : newtons(value);
}

const FORCES = (count) => `${count} force${count === 1 ? " is" : "s are"}`;

/** Whether the forces are the only ones possible, in words; nothing of servers that do not tell. */
function knownText({ known, open }) {
  if (known === undefined) return "";
  if (known === "unique") return "; forces unique";
  return `; ${FORCES(open)} ${known === "not_determined" ? "not examined" : "not unique"}${known === "least_norm" ? " (least norm)" : ""}`;
}

/** What is told of the state of lowest energy, in words. */
export function lowestText({ drop, limited, bodies }) {
  const joules = drop >= 1e-3 || drop === 0 ? `${Number(drop.toPrecision(4))} J` : `${drop.toExponential(1)} J`;
  if (!(drop > 1e-9)) return "Nothing goes lower.";
  const moved = bodies.filter(({ rise, slope, across }) => Math.abs(rise) + Math.abs(slope) + Math.abs(across) > 1e-9).length;
  return `The energy falls by ${joules}; ${moved} bodies end elsewhere${limited > 0 ? `, ${limited} at a limit: they fall farther` : ""}.`;
}

/** What an answer says of the bodies, in words. */
export function verdictText({ verdict, forces, residual, bodies, points, contacts, falling, known, open }) {
  const sure = knownText({ known, open });
  const breaks = contacts.filter((contact) => contact.breaks).length;
  const more = contacts.length < points || falling.length < bodies ? `; the first ${contacts.length} points are drawn` : "";
  if (verdict !== "falls") return `${verdict}, forces ${forces}; ${bodies} bodies, ${points} contact points${more}${sure}; residual ${residual.toPrecision(2)}`;
  const sizes = falling.map(({ acceleration }) => Math.hypot(...acceleration)), most = sizes.reduce((a, b) => Math.max(a, b), 0);
  const moving = sizes.filter((size) => size > LEAST * most).length;
  return `falls: ${moving} of ${bodies} bodies begin to move, ${breaks} of ${points} contact points break${more}${sure}; residual ${residual.toPrecision(2)}`;
}

export class Stability {
  #world = null;
  #waiting = false;
  /** The user asks, or something that the answer depends on was chosen. */
  #wanted = false;
  /** Bodies have changed since the question whose answer is shown. */
  #stale = false;
  #movedAt = -Infinity;
  #state = "";
  #chosen = 0;

  constructor({ root, scene }) {
    const find = (name) => root.querySelector(name);
    [this.switch, this.panel, this.text, this.why, this.margin, this.table] =
      ["[name=stability]", "#stability", "#verdict", "#margin-why", "#margin", "#margins"].map(find);
    this.rows = this.table.querySelector("tbody");
    this.switch.onchange = () => this.#switched();
    [this.lowest, this.lowestText] = ["#lowest", "#lowest-text"].map(find);
    this.margin.onchange = this.lowest.onchange = find("#ask").onclick = () => { this.#wanted = true; };
    const look = { depthTest: false, transparent: true, opacity: FRESH, toneMapped: false };
    this.arrows = new InstancedMesh(arrow(), new MeshBasicMaterial(look), 4 * DRAWN_MAX);
    this.arrows.instanceMatrix.setUsage(DynamicDrawUsage);
    this.arrows.setColorAt(0, FORCE); // which makes the colours
    this.crosses = new Points(new BufferGeometry(), new PointsMaterial({ ...look, size: 15, sizeAttenuation: false, map: cross(), alphaTest: 0.3 }));
    this.crosses.geometry.setAttribute("position", new BufferAttribute(new Float32Array(3 * DRAWN_MAX), 3));
    this.group = new Group();
    this.ghosts = new LineSegments(new BufferGeometry(), new LineBasicMaterial({ ...look, color: END }));
    this.ghosts.geometry.setAttribute("position", new BufferAttribute(new Float32Array(3 * EDGES.length * DRAWN_MAX), 3));
    this.group.add(this.arrows, this.crosses, this.ghosts);
    for (const [i, object] of this.group.children.entries()) Object.assign(object, { frustumCulled: false, renderOrder: 2 + i });
    scene.add(this.group);
    /** Grows with each change of the drawing. */
    this.version = 0;
    /** Called when the layer is switched. */
    this.onSwitch = () => {};
    this.clear();
  }

  get on() { return this.switch.checked; }

  /** Whether an answer is under way, or a question is about to be asked. */
  get waiting() { return this.#waiting || this.#wanted; }

  #switched() {
    this.panel.hidden = !this.on;
    this.group.visible = this.on;
    this.#wanted = this.on;
    if (!this.on) this.#forget("");
    this.onSwitch();
  }

  /** A world was left. */
  clear() {
    this.#world = null;
    this.#wanted = this.on;
    this.#forget("");
  }

  /** Shows no answer, and a text instead. */
  #forget(text) {
    /** What is shown: {answer, epoch, tick, kind, body, margins: Map of answers by direction, why: there is no margin, lowest, lowestText}, or null. */
    this.shown = null;
    this.arrows.count = 0;
    this.crosses.geometry.setDrawRange(0, 0);
    this.ghosts.geometry.setDrawRange(0, 0);
    this.lowestText.textContent = "";
    this.rows.replaceChildren();
    this.table.hidden = true;
    this.text.textContent = text;
    this.why.textContent = "";
    delete this.text.dataset.verdict;
    this.#stale = false;
    this.version++;
  }

  /** Called for each frame of the stream. `changed`: bodies have changed in it. */
  frame(mirror, changed, now) {
    const state = `${mirror.epoch}/${mirror.tick}/${mirror.edit}`;
    if (changed || (mirror.edit > 0 && state !== this.#state)) {
      this.#movedAt = now;
      this.#turn(true);
    }
    this.#state = state;
  }

  #turn(stale) {
    if (this.#stale === stale) return;
    this.#stale = stale;
    if (this.shown !== null) this.#write();
    for (const { material } of this.group.children) material.opacity = stale ? STALE : FRESH;
    this.version++;
  }

  /** Called once per picture. `boxOf`: id → the box in which a body is drawn, or null; `past`: the picture shows the past. */
  refresh(world, { chosen, planar, past, boxOf }, now) {
    this.group.visible = this.on && !past;
    if (chosen !== this.#chosen) {
      this.#chosen = chosen;
      this.#wanted ||= this.on && NEEDS_BODY.includes(this.margin.value);
    }
    if (!this.on || this.#waiting || past) return;
    const rests = world.mode !== "running" || now - this.#movedAt > REST_MS;
    if (!this.#wanted && !(this.#stale && rests)) return;
    this.#wanted = false;
    this.#waiting = true;
    this.#ask(world, { chosen, planar, boxOf }).catch(({ message }) => { if (this.#isAbout(world)) this.#forget(message); })
      .finally(() => { this.#waiting = false; });
  }

  /** Whether an answer about this world is still wanted. */
  #isAbout(world) { return this.#world === world && this.on; }

  async #ask(world, { chosen, planar, boxOf }) {
    const kind = this.margin.value;
    this.#world = world;
    this.#turn(false);
    if (this.shown === null) this.text.textContent = "The server is asked …";
    const found = await world.dated((queries) => queries.stability({ limit: DRAWN_MAX }));
    if (!this.#isAbout(world)) return;
    const shown = { ...found, kind, body: chosen, margins: new Map(), why: "", lowest: null, lowestText: "" };
    this.shown = shown;
    this.#draw(boxOf, planar);
    this.#write();
    if (this.lowest.checked) await this.#askLowest(world, shown, boxOf);
    if (kind === "" || this.shown !== shown) return;
    try {
      if (chosen === 0 && NEEDS_BODY.includes(kind)) shown.why = `Choose a body: a ${kind} acts on it.`;
      else await this.#askMargins(world, shown, planar);
    } catch ({ message }) {
      shown.why = message;
    }
    if (this.shown === shown) this.#write();
  }

  /** Where the bodies come to rest: a question of its own, which may be refused. */
  async #askLowest(world, shown, boxOf) {
    try {
      const { answer, epoch } = await world.dated((queries) => queries.stability({ limit: DRAWN_MAX, lowest: true }));
      if (this.shown !== shown || this.#stale || epoch !== shown.epoch) return;
      shown.lowest = answer.lowest;
      this.#drawLowest(boxOf, answer.lowest.bodies);
      shown.lowestText = lowestText(answer.lowest);
    } catch ({ message }) {
      shown.lowestText = message;
    }
    if (this.shown === shown) this.#write();
  }

  async #askMargins(world, shown, planar) {
    const { kind, body } = shown;
    for (const along of ALONG[kind].filter((name) => !planar || !name.endsWith("z"))) {
      // A margin of another state than that of the forces would mislead beside them.
      if (this.#stale || this.#wanted) return;
      const direction = AXES[along] ?? [0, 0, 0];
      const { answer, epoch } = await world.dated((queries) => queries.stability({ limit: 0, margin: kind, body, direction }));
      if (this.shown !== shown || this.#stale || epoch !== shown.epoch) return;
      shown.margins.set(along, answer);
      this.#write();
    }
  }

  #write() {
    const { answer, tick, kind, body, margins, why } = this.shown;
    this.text.textContent = `Tick ${tick}: ${verdictText(answer)}.${this.#stale ? " The bodies have moved since." : ""}`;
    this.why.textContent = why;
    this.lowestText.textContent = this.shown.lowestText;
    this.text.dataset.verdict = answer.verdict;
    this.table.hidden = margins.size === 0;
    this.table.caption.textContent = NEEDS_BODY.includes(kind) ? `Margin of a ${kind} on body ${body}` : `Margin of a ${kind}`;
    this.rows.replaceChildren(...[...margins].map(([along, { stands, upper }]) => {
      const row = document.createElement("tr");
      row.append(...[along, marginText(kind, stands), marginText(kind, upper)].map((text) => {
        const cell = document.createElement("td");
        cell.textContent = text;
        return cell;
      }));
      return row;
    }));
  }

  /** Draws the forces on the second body of each contact and joint, to one scale, the contacts that break, and the accelerations of bodies that fall. */
  #draw(boxOf, planar) {
    const { contacts, falling, joints } = this.shown.answer;
    const boxes = new Map([...new Set(contacts.flatMap(({ a, b }) => [a, b]).concat(falling.map(({ body }) => body)))]
      .map((id) => [id, boxOf(id)]).filter(([, box]) => box !== null));
    const sizes = [...boxes.values()].map((box) => box.getSize(new Vector3()).toArray().slice(0, planar ? 2 : 3)
      .sort((x, y) => x - y).at(-2)).sort((x, y) => x - y);
    this.longest = LONGEST * (sizes[sizes.length >> 1] ?? 1);
    this.arrows.count = 0;
    this.ghosts.geometry.setDrawRange(0, 0);
    this.#drawArrows(contacts.map(({ point, normal, force, friction }) =>
      [new Vector3(...point), new Vector3(...normal).multiplyScalar(force).add(new Vector3(...friction)), FORCE])
      .concat(joints.map(({ point, force }) => [new Vector3(...point), new Vector3(...force), JOINT])));
    this.#drawArrows(falling.filter(({ body }) => boxes.has(body)).map(({ body, acceleration }) =>
      [boxes.get(body).getCenter(new Vector3()), new Vector3(...acceleration), FALL]));
    this.arrows.instanceMatrix.needsUpdate = this.arrows.instanceColor.needsUpdate = true;
    const broken = contacts.filter(({ breaks }) => breaks), { position } = this.crosses.geometry.attributes;
    broken.forEach(({ point }, i) => position.array.set(point, i * 3));
    position.needsUpdate = true;
    this.crosses.geometry.setDrawRange(0, broken.length);
    this.version++;
  }

  /** Outlines of the boxes of bodies where they come to rest, and arrows to them from where they are. */
  #drawLowest(boxOf, bodies) {
    const { position } = this.ghosts.geometry.attributes, ways = [];
    let at = 0;
    for (const { body, rise, slope, across } of bodies) {
      const box = Math.abs(rise) + Math.abs(slope) + Math.abs(across) > 1e-9 ? boxOf(body) : null;
      if (box === null) continue;
      const centre = box.getCenter(new Vector3());
      for (const corner of EDGES) {
        const [x, y, z] = ["x", "y", "z"].map((axis, i) => (corner & 1 << i ? box.max : box.min)[axis]);
        position.array.set([x, y + rise + slope * (x - centre.x) + across * (z - centre.z), z], 3 * at++);
      }
      ways.push([centre, new Vector3(0, rise, 0)]);
    }
    position.needsUpdate = true;
    this.ghosts.geometry.setDrawRange(0, at);
    const matrix = new Matrix4(), turn = new Quaternion(), scale = new Vector3();
    for (const [from, way] of ways) {
      const length = way.length();
      if (!(length > 1e-9) || this.arrows.count === this.arrows.instanceMatrix.count) continue;
      const index = this.arrows.count++;
      turn.setFromUnitVectors(UP, way.clone().divideScalar(length));
      this.arrows.setMatrixAt(index, matrix.compose(from, turn, scale.set(Math.min(length, 1), length, Math.min(length, 1))));
      this.arrows.setColorAt(index, END);
    }
    this.arrows.instanceMatrix.needsUpdate = this.arrows.instanceColor.needsUpdate = true;
    this.version++;
  }

  /** Arrows of one unit, [[from, vector, colour], …]: lengths go with the roots of their shares of the largest vector. */
  #drawArrows(list) {
    const lengths = list.map(([, vector]) => vector.length()), most = lengths.reduce((a, b) => Math.max(a, b), 0);
    const matrix = new Matrix4(), turn = new Quaternion(), scale = new Vector3();
    list.forEach(([from, vector, colour], i) => {
      if (!(lengths[i] > LEAST * most)) return;
      const at = this.arrows.count++;
      turn.setFromUnitVectors(UP, vector.clone().divideScalar(lengths[i]));
      this.arrows.setMatrixAt(at, matrix.compose(from, turn, scale.setScalar(this.longest * Math.sqrt(lengths[i] / most))));
      this.arrows.setColorAt(at, colour);
    });
  }
}
