/** Contact points and forces, as a query sees them: a point where two bodies touch, a line as long as the push. */
import { BufferAttribute, BufferGeometry, LineBasicMaterial, LineSegments, Points, PointsMaterial } from "three";

const CONTACTS_MAX = 4096;
const ASK_MS = 100;
/** Metres of line for one newton; lines grow with the square root of the force. */
const METRES_PER_ROOT = 0.012;

export class Contacts {
  #asked = -Infinity;
  #waiting = false;

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
    this.on = false;
  }

  set on(on) {
    this.shown = on;
    this.points.visible = this.forces.visible = on;
  }

  /** Asks anew when it is time; draws what comes. */
  refresh(world, now) {
    if (!this.shown || this.#waiting || now - this.#asked < ASK_MS) return;
    this.#asked = now;
    this.#waiting = true;
    world.contacts(0, CONTACTS_MAX).then((list) => this.#show(list, world.rate || 60), () => {})
      .finally(() => { this.#waiting = false; });
  }

  #show(list, rate) {
    const points = this.points.geometry.attributes.position, lines = this.forces.geometry.attributes.position;
    list.forEach(({ point, normal, impulse }, i) => {
      points.array.set(point, i * 3);
      lines.array.set(point, i * 6);
      const length = METRES_PER_ROOT * Math.sqrt(Math.max(impulse, 0) * rate);
      for (let k = 0; k < 3; k++) lines.array[i * 6 + 3 + k] = point[k] + normal[k] * length;
    });
    points.needsUpdate = lines.needsUpdate = true;
    this.points.geometry.setDrawRange(0, list.length);
    this.forces.geometry.setDrawRange(0, list.length * 2);
    this.count = list.length;
  }
}
