/** The panel of the chosen body: its state from the mirror, what queries tell of it, and the bodies it touches and senses. */

import { Coordinates } from "./coordinates.js";

/** Shortest time between two queries, ms. */
const QUERY_MS = 500;
const TOUCHING_MAX = 6;
/** Overlapping bodies of a sensor that are named, and counted. */
const SENSED_NAMED = 12, SENSED_MAX = 1024;
/** Pieces with something of their own that are shown. */
const PIECES_SHOWN = 8;
const VECTOR = (v) => v.map((x) => (Math.abs(x) < 5e-4 ? 0 : x).toFixed(3)).join("  ");

/** A force with its unit, N or kN. */
export function newtons(force) {
  return force >= 10000 ? `${(force / 1000).toFixed(1)} kN` : `${force.toFixed(force < 100 ? 2 : 0)} N`;
}

/** Contacts of body `id` summed by the other body, strongest first: [{body, points, force (N), gap (m)}, …]. */
export function touching(contacts, id, rate) {
  const others = new Map();
  for (const { a, b, impulse, separation } of contacts) {
    if (a !== id && b !== id) continue;
    const body = a === id ? b : a;
    const entry = others.get(body) ?? { body, points: 0, force: 0, gap: Infinity };
    entry.points++;
    entry.force += impulse * rate;
    entry.gap = Math.min(entry.gap, separation);
    others.set(body, entry);
  }
  return [...others.values()].sort((x, y) => y.force - x.force || x.body - y.body);
}

/** Whether several distributions of the forces among these points hold the bodies alike. */
export const isShared = (forces) => forces.some(({ known }) => known === "as_found" || known === "least_norm");

/** The bodies in a sensor, in words. */
export function sensedText(ids) {
  if (ids.length === 0) return "nothing";
  const more = ids.length - SENSED_NAMED, all = ids.length < SENSED_MAX ? "" : " or more";
  return `${ids.length}${all}: ${ids.slice(0, SENSED_NAMED).join(", ")}${more > 0 ? ` and ${more} more` : ""}`;
}

/** What a mover does and can, in words, by row. */
export function moverRows({ onGround, blocked, squeezed, pushes, rests, ground, squeezes, wish, stepHeight, slope, pushForce }) {
  const place = onGround ? `on body ${ground}` : "in the air";
  const doing = [blocked && "blocked", pushes && "pushes", rests && "rests", squeezed && `without a place for ${squeezes} ticks`];
  return {
    Mover: [place, ...doing.filter(Boolean)].join(", "),
    Wish: `${VECTOR(wish)} m/s`,
    Climbs: `${Number(stepHeight.toPrecision(4))} m, ${(slope * 180 / Math.PI).toFixed(0)}°`,
    Pushes: `up to ${newtons(pushForce)}`,
  };
}

/** What a piece, or a patch of its triangles, has of its own, in words: [name, text]. */
export function pieceRow({ piece, patch, own, ...values }) {
  const frictions = new Set([values.static_friction, values.dynamic_friction]), hex = (bits) => `0x${bits.toString(16)}`;
  const parts = [
    own & 1 && `friction ${[...frictions].join(" and ")}, restitution ${values.restitution}`,
    own & 2 && `category ${hex(values.category)}, mask ${hex(values.mask)}, group ${values.group}`,
    own & 4 && (values.sensor ? "sensor" : "solid"),
    own & 8 && `surface ${VECTOR(values.surface_velocity)} m/s`,
    own & 16 && `${Number(values.density.toPrecision(6))} kg/m³`,
  ];
  return [`Piece ${piece}${patch > 0 ? `, patch ${patch}` : ""}`, parts.filter(Boolean).join("; ")];
}

export class Inspector {
  #asked = 0;
  #facts = null;
  #shared = false;
  #sensed = [];
  #pieces = [];

  /** @param viewer what Coordinates needs */
  constructor(root, viewer) {
    this.root = root;
    this.coordinates = new Coordinates(root.querySelector("#coordinates"), viewer);
    this.list = root.querySelector("dl");
    this.title = root.querySelector("output");
    this.table = root.querySelector("table");
    this.rows = root.querySelector("tbody");
    this.steer = root.querySelector("#steer");
    this.id = 0;
    /** The bodies that the chosen body touches, as touching() returns them. */
    this.touching = [];
  }

  /** Shows another body; 0 closes the panel. */
  choose(id) {
    this.id = id;
    this.#facts = null;
    this.#shared = false;
    this.#sensed = [];
    this.#pieces = [];
    this.#asked = 0;
    this.touching = [];
    this.coordinates.choose(id);
    this.root.hidden = id === 0;
    this.title.textContent = id || "";
    this.list.replaceChildren();
    this.rows.replaceChildren();
    this.table.hidden = true;
  }

  /** Called once per picture. */
  refresh(world, mirror, contacts, now) {
    if (this.id === 0) return;
    const body = mirror.body(this.id);
    if (body === null) {
      this.choose(0);
      return;
    }
    if (now - this.#asked > QUERY_MS) {
      this.#asked = now;
      const { id } = this;
      world.facts(id).then((facts) => { if (this.id === id) this.#facts = facts; }, () => {});
      world.sensed(id, SENSED_MAX).then((sensed) => { if (this.id === id) this.#sensed = sensed; }, () => {});
      world.pieces(id, { limit: PIECES_SHOWN + 1 }).then((pieces) => { if (this.id === id) this.#pieces = pieces; }, () => {});
      world.forces(id).then((forces) => { if (this.id === id) this.#shared = isShared(forces); }, () => {});
    }
    this.touching = touching(contacts.list, this.id, world.rate || 60);
    const points = this.touching.reduce((sum, entry) => sum + entry.points, 0);
    const pressed = this.touching.reduce((sum, entry) => sum + entry.force, 0);
    const mover = this.#facts?.mover ?? null;
    this.steer.hidden = mover === null;
    this.#write({
      Status: body.quarantine ? "in quarantine" : `${body.status}${body.fast ? ", fast" : ""}${body.sensor ? ", sensor" : ""}${body.asleep ? ", asleep" : ""}`,
      Position: `${VECTOR(body.position)} m`,
      Velocity: `${VECTOR(body.velocity)} m/s`,
      Speed: `${Math.hypot(...body.velocity).toFixed(3)} m/s`,
      Spin: `${VECTOR(body.spin)} rad/s`,
      Mass: this.#facts ? `${Number(this.#facts.mass.toPrecision(6))} kg` : "…",
      Owner: body.owner ? `session ${body.owner}` : "none",
      Tag: body.tag,
      Shapes: body.shapes?.length ?? 0,
      ...(body.sensor || this.#sensed.length > 0 ? { Senses: sensedText(this.#sensed) } : {}),
      ...(mover === null ? {} : moverRows(mover)),
      ...Object.fromEntries(this.#pieces.slice(0, PIECES_SHOWN).map(pieceRow)),
      ...(this.#pieces.length > PIECES_SHOWN ? { "More pieces": "have something of their own" } : {}),
      Contacts: points > 0 ? `${points} points, ${newtons(pressed)}` : "none",
      ...(points > 0 && this.#shared ? { Shares: "not unique" } : {}),
    });
    this.#writeTouching();
    this.coordinates.refresh(world, mirror, now);
  }

  #write(rows) {
    while (this.list.children.length > 2 * Object.keys(rows).length) this.list.lastChild.remove();
    Object.entries(rows).forEach(([name, value], i) => {
      if (this.list.children.length <= i * 2) this.list.append(document.createElement("dt"), document.createElement("dd"));
      this.list.children[i * 2].textContent = name;
      this.list.children[i * 2 + 1].textContent = value;
    });
  }

  #writeTouching() {
    const shown = this.touching.slice(0, TOUCHING_MAX);
    this.table.hidden = shown.length === 0;
    while (this.rows.children.length > shown.length) this.rows.lastChild.remove();
    shown.forEach(({ body, force, gap }, i) => {
      if (this.rows.children.length <= i) this.rows.insertRow().append(...[0, 1, 2].map(() => document.createElement("td")));
      [body, newtons(force), `${(gap * 1000).toFixed(2)} mm`].forEach((text, k) => {
        this.rows.children[i].children[k].textContent = text;
      });
    });
  }
}
