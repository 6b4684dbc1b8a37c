/**
 * Contact points and forces, as the world streams them: a point where two bodies touch, a line as long as the push. The
 * column is subscribed to while they are shown, and only then.
 */
import { PROFILE } from "cairn-client";
import { BufferAttribute, BufferGeometry, LineBasicMaterial, LineSegments, Points, PointsMaterial } from "three";

const CONTACTS_MAX = 4096;
/** Metres of line for one newton; lines grow with the square root of the force. */
const METRES_PER_ROOT = 0.012;

export class Contacts {
  #world = null;
  /** What is subscribed to now, {world, subscription}, and what brings it to what is wanted, one step after the other. */
  #watched = null;
  #settled = Promise.resolve();

  constructor(scene) {
    const make = (points) => {
      const geometry = new BufferGeometry();
      geometry.setAttribute("position", new BufferAttribute(new Float32Array(points * 3), 3));
      geometry.setDrawRange(0, 0);
      return geometry;
    };
    this.points = new Points(make(CONTACTS_MAX), new PointsMaterial(
      { color: 0xffe08a, size: 6, sizeAttenuation: false, depthTest: false }));
    this.forces = new LineSegments(make(CONTACTS_MAX * 2), new LineBasicMaterial({ color: 0xff8c5a, depthTest: false }));
    for (const object of [this.points, this.forces]) {
      object.frustumCulled = false;
      object.renderOrder = 1;
      scene.add(object);
    }
    this.count = 0;
    this.on = false;
  }

  set on(on) {
    this.shown = on;
    this.points.visible = this.forces.visible = on;
    this.#settle();
  }

  /** The world whose contacts are meant from now on. */
  watch(world) {
    this.#world = world;
    this.#settle();
  }

  #settle() {
    this.#settled = this.#settled.then(() => this.#subscribe());
  }

  async #subscribe() {
    const world = this.shown ? this.#world : null, before = this.#watched;
    if ((before?.world ?? null) === world) return;
    this.#watched = null;
    this.#show([], 1);
    // Of a connection that is gone nothing needs to be ended; a server without the column shows none.
    if (before) await before.world.unsubscribe(before.subscription).catch(() => {});
    if (world === null) return;
    const subscription = await world.subscribe({
      fields: ["contacts"],
      profile: PROFILE.view,
      hash_every: 0,
      onFrame: (mirror) => this.#show(mirror.contacts, world.rate || 60),
    }).catch(() => null);
    if (subscription) this.#watched = { world, subscription };
  }

  /** `lists`: by slot, null or empty where a body holds none. */
  #show(lists, rate) {
    const points = this.points.geometry.attributes.position, lines = this.forces.geometry.attributes.position;
    let count = 0;
    for (const list of lists) {
      for (const { point, normal, impulse } of list ?? []) {
        if (count === CONTACTS_MAX) break;
        points.array.set(point, count * 3);
        lines.array.set(point, count * 6);
        const length = METRES_PER_ROOT * Math.sqrt(Math.max(impulse, 0) * rate);
        for (let k = 0; k < 3; k++) lines.array[count * 6 + 3 + k] = point[k] + normal[k] * length;
        count++;
      }
    }
    points.needsUpdate = lines.needsUpdate = true;
    this.points.geometry.setDrawRange(0, count);
    this.forces.geometry.setDrawRange(0, count * 2);
    this.count = count;
  }
}
