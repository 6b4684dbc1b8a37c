/**
 * Draws contact points and forces: a dot at each contact point and a line from it along the normal. The line's length grows with
 * the square root of the force, its colour from yellow to red. For all bodies the page subscribes to the column `contacts` while
 * they are shown; for the chosen body alone it sends queries.
 */
import { PROFILE } from "cairn-client";
import { BufferAttribute, BufferGeometry, CanvasTexture, Color, LineBasicMaterial, LineSegments, Points, PointsMaterial } from "three";

const CONTACTS_MAX = 4096;
/** Shortest time between two queries about the chosen body, ms. */
const QUERY_MS = 100;
/** Length of a line, m per √N. The root keeps weak forces visible beside strong ones. */
const METRES_PER_ROOT = 0.012;
const WEAK = new Color(0xffe08a), STRONG = new Color(0xff4d3d);
/** Forces at the two ends of the colour scale, N. */
const FORCES = [1, 10000];

/** Whether a contact point touches: a close pair also has contact points with a gap, which carry no force. */
const presses = ({ impulse, separation }) => impulse > 0 || separation <= 0;

/** The texture of a round dot. */
function disc() {
  const canvas = document.createElement("canvas");
  canvas.width = canvas.height = 32;
  const context = canvas.getContext("2d");
  context.fillStyle = "#fff";
  context.arc(16, 16, 14, 0, 2 * Math.PI);
  context.fill();
  return new CanvasTexture(canvas);
}

export class Contacts {
  #world = null;
  /** The present subscription, {world, subscription} or null. #settled runs changes of it one after the other. */
  #watched = null;
  #settled = Promise.resolve();
  #asked = -Infinity;
  #waiting = false;
  #chosen = 0;
  /** The contacts of the chosen body that are drawn, as JSON: a picture is made only if they change. */
  #shown = "";
  #all = false;
  #colour = new Color();

  constructor(scene) {
    const make = (points) => {
      const geometry = new BufferGeometry();
      for (const name of ["position", "color"])
        geometry.setAttribute(name, new BufferAttribute(new Float32Array(points * 3), 3));
      geometry.setDrawRange(0, 0);
      return geometry;
    };
    const look = { vertexColors: true, depthTest: false, transparent: true };
    this.points = new Points(make(CONTACTS_MAX),
      new PointsMaterial({ ...look, size: 6, sizeAttenuation: false, map: disc(), alphaTest: 0.5 }));
    this.forces = new LineSegments(make(CONTACTS_MAX * 2), new LineBasicMaterial(look));
    for (const object of [this.points, this.forces]) {
      object.frustumCulled = false;
      object.renderOrder = 1;
      object.visible = false;
      scene.add(object);
    }
    /** Points drawn. */
    this.count = 0;
    /** Grows with each change of the drawing. */
    this.version = 0;
    /** Contacts of the chosen body: [{a, b, impulse, separation, …}], as World.contacts returns them. */
    this.list = [];
  }

  /** Whether contacts of all bodies are shown, not only those of the chosen one. */
  get on() { return this.#all; }
  set on(on) {
    this.#all = on;
    this.#asked = -Infinity;
    this.#empty();
    this.#settled = this.#settled.then(() => this.#subscribe());
  }

  /** Sets the world whose contacts are shown, or null. */
  watch(world) {
    this.#world = world;
    this.#empty();
    this.#settled = this.#settled.then(() => this.#subscribe());
  }

  async #subscribe() {
    const world = this.#all ? this.#world : null, before = this.#watched;
    if ((before?.world ?? null) === world) return;
    this.#watched = null;
    // A lost connection has no subscription to end; a server without the column sends no contacts.
    if (before) await before.world.unsubscribe(before.subscription).catch(() => {});
    if (world === null) return;
    const subscription = await world.subscribe({
      fields: ["contacts"],
      profile: PROFILE.view,
      hash_every: 0,
      onFrame: (mirror) => { if (this.#all) this.#draw(mirror.contacts, world.rate || 60); },
    }).catch(() => null);
    if (subscription) this.#watched = { world, subscription };
  }

  /** Called once per picture: sends a query about the chosen body (0: none) if one is due. */
  refresh(world, chosen, now) {
    if (chosen !== this.#chosen) {
      this.#chosen = chosen;
      this.#asked = -Infinity;
      this.list = [];
      if (!this.#all) this.#empty();
    }
    this.points.visible = this.forces.visible = this.#all || chosen !== 0;
    if (chosen === 0 || this.#waiting || now - this.#asked < QUERY_MS) return;
    this.#asked = now;
    this.#waiting = true;
    world.contacts(chosen, CONTACTS_MAX).then((list) => {
      if (chosen !== this.#chosen) return;
      this.list = list.filter(presses);
      const shown = JSON.stringify(this.list);
      if (this.#all || shown === this.#shown) return;
      this.#draw([this.list], world.rate || 60);
      this.#shown = shown;
    }, () => {}).finally(() => { this.#waiting = false; });
  }

  /** Draws lists of contacts; a list may be null. */
  #draw(lists, rate) {
    this.count = 0;
    this.#shown = "";
    const points = this.points.geometry.attributes, lines = this.forces.geometry.attributes;
    const span = Math.log(FORCES[1] / FORCES[0]);
    for (const list of lists) {
      for (const contact of list ?? []) {
        if (!presses(contact)) continue;
        if (this.count === CONTACTS_MAX) break;
        const { point, normal, impulse } = contact, i = this.count++;
        const force = Math.max(impulse, 0) * rate, length = METRES_PER_ROOT * Math.sqrt(force);
        this.#colour.lerpColors(WEAK, STRONG, Math.min(Math.log(Math.max(force / FORCES[0], 1)) / span, 1));
        points.position.array.set(point, i * 3);
        lines.position.array.set(point, i * 6);
        for (let k = 0; k < 3; k++) lines.position.array[i * 6 + 3 + k] = point[k] + normal[k] * length;
        this.#colour.toArray(points.color.array, i * 3);
        this.#colour.toArray(lines.color.array, i * 6);
        this.#colour.toArray(lines.color.array, i * 6 + 3);
      }
    }
    for (const { position, color } of [points, lines]) position.needsUpdate = color.needsUpdate = true;
    this.#fit();
  }

  #empty() {
    this.count = 0;
    this.#shown = "";
    this.#fit();
  }

  #fit() {
    this.version++;
    this.points.geometry.setDrawRange(0, this.count);
    this.forces.geometry.setDrawRange(0, this.count * 2);
  }
}
