/**
 * A geometry drawn many times with one call. An instance has a place, a turn and a colour: 28 bytes a picture if it moves, 12 more if
 * its colour changes, where three.js's own matrices need 64; what has not changed is not sent to the GPU again.
 */
import {
  DynamicDrawUsage, InstancedBufferAttribute, InstancedBufferGeometry, LineSegments, Matrix4, Mesh, MeshDepthMaterial, Quaternion, Vector3,
} from "three";
import { posed } from "./posed.js";

/** How all instances are drawn into shadow maps. */
const DEPTH = posed(new MeshDepthMaterial());

/** A geometry whose instances share attributes. */
function instanced(base, attributes) {
  const geometry = new InstancedBufferGeometry();
  geometry.setIndex(base.index);
  for (const [name, attribute] of [...Object.entries(base.attributes), ...Object.entries(attributes)]) geometry.setAttribute(name, attribute);
  geometry.instanceCount = 0;
  return geometry;
}

/** An attribute of instances that knows which of its numbers have changed. */
class Column {
  #least = Infinity;
  #most = -Infinity;

  constructor(capacity, width) {
    this.width = width;
    this.attribute = new InstancedBufferAttribute(new Float32Array(capacity * width), width).setUsage(DynamicDrawUsage);
    this.array = this.attribute.array;
  }

  /** Writes the numbers of instance i. */
  set(i, values) {
    const { array, width } = this, at = i * width;
    let changed = false;
    for (let k = 0; k < width; k++) {
      const value = Math.fround(values[k]);
      if (array[at + k] === value) continue;
      array[at + k] = value;
      changed = true;
    }
    if (!changed) return;
    this.#least = Math.min(this.#least, at);
    this.#most = Math.max(this.#most, at + width);
  }

  /** The changes are sent with the next picture. */
  commit() {
    if (this.#most <= this.#least) return;
    this.attribute.addUpdateRange(this.#least, this.#most - this.#least);
    this.attribute.needsUpdate = true;
    this.#least = Infinity;
    this.#most = -Infinity;
  }
}

export class Instances extends Mesh {
  #probe;
  #pose = { place: new Vector3(), turn: new Quaternion(), one: new Vector3(1, 1, 1) };
  #rgb = new Float32Array(3);

  /** @param base the geometry of one; @param material of posed() with vertexColors */
  constructor(base, material, capacity) {
    const columns = { place: new Column(capacity, 3), turn: new Column(capacity, 4), color: new Column(capacity, 3) };
    const { place, turn, color } = columns;
    super(instanced(base, { place: place.attribute, turn: turn.attribute, color: color.attribute }), material);
    Object.assign(this, { capacity, columns, frustumCulled: false, customDepthMaterial: DEPTH });
    this.count = 0; // Mesh sets 1
    this.#probe = new Mesh(base, material);
  }

  get count() { return this.geometry.instanceCount; }
  set count(count) { this.geometry.instanceCount = count; }

  /** @param place [x, y, z]; @param turn [x, y, z, w] */
  setPose(i, place, turn) {
    this.columns.place.set(i, place);
    this.columns.turn.set(i, turn);
  }

  setColour(i, { r, g, b }) {
    this.#rgb[0] = r;
    this.#rgb[1] = g;
    this.#rgb[2] = b;
    this.columns.color.set(i, this.#rgb);
  }

  placeAt(i) { return [...this.columns.place.array.subarray(i * 3, i * 3 + 3)]; }
  colourAt(i, colour) { return colour.fromArray(this.columns.color.array, i * 3); }

  /** What was set since the last call goes into the next picture. */
  commit() { for (const column of Object.values(this.columns)) column.commit(); }

  /** Lines that move with the instances: another geometry with their poses. */
  lines(base, material) {
    const { place, turn } = this.columns;
    const lines = new LineSegments(instanced(base, { place: place.attribute, turn: turn.attribute }), posed(material));
    lines.frustumCulled = false;
    return lines;
  }

  /** Hits have instanceId. */
  raycast(raycaster, hits) {
    const { place, turn, one } = this.#pose, found = [];
    this.#probe.matrixWorld ??= new Matrix4();
    for (let i = 0; i < this.count; i++) {
      place.fromArray(this.columns.place.array, i * 3);
      this.#probe.matrixWorld.compose(place, turn.fromArray(this.columns.turn.array, i * 4), one);
      this.#probe.raycast(raycaster, found);
      for (const hit of found.splice(0)) hits.push(Object.assign(hit, { instanceId: i, object: this }));
    }
  }

  dispose() { this.geometry.dispose(); }
}
