/**
 * All bodies as instances: one draw call for each shape, however many bodies have it. A placement of a body is one
 * instance of its shape's batch.
 */
import { Color, InstancedMesh, Matrix4, MeshLambertMaterial, Quaternion, Vector3 } from "three";
import { FLAG, shapes } from "cairn-client";
import { geometryOf, groundTexture } from "./geometry.js";
import { poseAt } from "./playback.js";

const FIRST_INSTANCES = 32;
const CHOSEN = new Color(0xffd166);
const STATIC = new Color(0x8a939c);
const GROUND = new Color(0x6a747e);
/** Opacity of translucent bodies. */
const FADED = 0.35;
const BROKEN = new Color(0xff3355);
/** Bodies that do not pass through dynamic ones either are shaded toward it. */
const FAST = new Color(0xff8c1a);
const STATUS_STATIC = 1;

/** Instances of one shape. */
class Batch {
  constructor(scene, name) {
    this.scene = scene;
    this.name = name;
    this.material = new MeshLambertMaterial();
    this.mesh = null;
    this.geometry = null;
    this.count = 0;
    /** All instances: {id, slot, local}. */
    this.items = [];
    /** Of these the visible ones, by index of the mesh's instances. */
    this.shown = [];
  }

  /** Makes the geometry. Until then the shape's bytes have not arrived and nothing is drawn. */
  show(description) {
    this.geometry = geometryOf(description);
    this.kind = description.kind;
    if (this.kind === "plane") this.material.map = groundTexture();
    this.#fit();
  }

  #fit() {
    if (this.geometry === null) return;
    const capacity = Math.max(FIRST_INSTANCES, 2 ** Math.ceil(Math.log2(this.count + 1)));
    if (this.mesh !== null && this.mesh.instanceMatrix.count >= this.count) return;
    this.mesh?.removeFromParent();
    this.mesh?.dispose();
    this.mesh = new InstancedMesh(this.geometry, this.material, capacity);
    this.mesh.count = 0; // the next draw() sets it
    this.mesh.frustumCulled = false;
    this.mesh.castShadow = this.kind !== "plane";
    this.mesh.receiveShadow = true;
    this.mesh.userData.batch = this;
    this.scene.add(this.mesh);
  }

  fade(on) {
    if (this.kind === "plane") return;
    Object.assign(this.material, { transparent: on, opacity: on ? FADED : 1, depthWrite: !on, needsUpdate: true });
  }

  add(item) {
    item.batch = this;
    item.index = this.count++;
    this.items[item.index] = item;
    this.#fit();
  }

  /** The last instance moves into the place of the removed one. */
  remove(item) {
    const last = this.items.pop();
    this.count--;
    if (last === item) return;
    last.index = item.index;
    this.items[item.index] = last;
  }

  dispose() {
    this.mesh?.removeFromParent();
    this.mesh?.dispose();
    this.geometry?.dispose();
    this.material.dispose();
  }
}

/** A colour for each id; neighbouring ids get different colours. */
function colourOf(id) {
  return new Color().setHSL((id * 0.61803398875) % 1, 0.5, 0.55);
}

export class Crowd {
  #batches = new Map();
  /** id → its instances */
  #bodies = new Map();
  #fetch;
  #scratch = {
    position: new Float64Array(3), rotation: new Float64Array(4), at: new Vector3(), turn: new Quaternion(),
    one: new Vector3(1, 1, 1), world: new Matrix4(),
  };

  /** @param fetch name of a shape → promise of its canonical bytes */
  constructor(scene, fetch) {
    this.scene = scene;
    this.#fetch = fetch;
    this.chosen = 0;
  }

  /** True if all shapes are polygons, which exist in planar worlds only. */
  get planar() {
    const kinds = [...this.#batches.values()].map(({ kind }) => kind);
    return kinds.length > 0 && kinds.every((kind) => kind === "polygon");
  }

  /** True once every shape has arrived and is drawn. */
  get complete() { return [...this.#batches.values()].every((batch) => batch.mesh !== null); }

  clear() {
    for (const batch of this.#batches.values()) batch.dispose();
    this.#batches.clear();
    this.#bodies.clear();
  }

  #batch(name) {
    let batch = this.#batches.get(name);
    if (batch === undefined) {
      batch = new Batch(this.scene, name);
      this.#batches.set(name, batch);
      const bytesOf = name === "" ? Promise.resolve(shapes.sphere(0.05)) : this.#fetch(name);
      bytesOf.then((bytes) => { if (this.#batches.get(name) === batch) this.#shown(batch, shapes.describe(bytes)); })
        .catch(() => {}); // The connection is lost; the next one requests the shape again.
    }
    return batch;
  }

  #shown(batch, description) {
    batch.show(description);
    if (this.#faded) batch.fade(true);
  }

  #faded = false;

  /** Whether bodies are translucent. */
  set faded(on) {
    this.#faded = on;
    for (const batch of this.#batches.values()) if (batch.mesh !== null) batch.fade(on);
  }

  #drop(id) {
    for (const item of this.#bodies.get(id) ?? []) item.batch.remove(item);
    this.#bodies.delete(id);
  }

  #make(mirror, slot) {
    const id = mirror.ids[slot];
    // A point mass has no shape; it is drawn small.
    const placements = mirror.shapes[slot]?.length > 0 ? mirror.shapes[slot]
      : [{ shape: "", position: [0, 0, 0], rotation: [1, 0, 0, 0] }];
    const key = placements.map(({ shape, position, rotation }) => `${shape}${position}${rotation}`).join();
    if (this.#bodies.get(id)?.key === key) return;
    this.#drop(id);
    const items = placements.map(({ shape, position: [x, y, z], rotation: [w, i, j, k] }) => {
      const local = new Matrix4().compose(new Vector3(x, y, z), new Quaternion(i, j, k, w), this.#scratch.one);
      const item = { id, slot, local, identity: x === 0 && y === 0 && z === 0 && w === 1 };
      this.#batch(shape).add(item);
      return item;
    });
    items.key = key;
    this.#bodies.set(id, items);
  }

  /** Follows a frame: adds created bodies, removes others. `whole`: a snapshot, which replaces all bodies. */
  follow(mirror, whole) {
    for (const id of mirror.removed) this.#drop(id);
    if (whole) for (const id of [...this.#bodies.keys()]) if (!mirror.slots.has(id)) this.#drop(id);
    for (const slot of mirror.changed) {
      const items = this.#bodies.get(mirror.ids[slot]);
      if (items !== undefined) for (const item of items) item.slot = slot;
      this.#make(mirror, slot);
    }
  }

  /** Writes the matrices and colours of all instances. `moment`: from Playback.at. */
  draw(mirror, moment) {
    const { position, rotation, at, turn, one, world } = this.#scratch;
    for (const batch of this.#batches.values()) {
      if (batch.mesh === null) continue;
      let shown = 0;
      for (const item of batch.items) {
        const alive = item.slot < moment.to.end && moment.to.ids[item.slot] === item.id;
        if (!alive) continue;
        poseAt(moment, item.slot, position, rotation);
        world.compose(at.fromArray(position), turn.set(rotation[1], rotation[2], rotation[3], rotation[0]), one);
        if (!item.identity) world.multiply(item.local);
        world.toArray(batch.mesh.instanceMatrix.array, shown * 16);
        batch.mesh.setColorAt(shown, this.#colour(mirror, item));
        batch.shown[shown++] = item;
      }
      batch.mesh.count = shown;
      batch.mesh.instanceMatrix.needsUpdate = true;
      if (batch.mesh.instanceColor) batch.mesh.instanceColor.needsUpdate = true;
    }
  }

  #colour(mirror, item) {
    if (item.id === this.chosen) return CHOSEN;
    const status = mirror.status[item.slot * 2], flags = mirror.status[item.slot * 2 + 1];
    if (flags & FLAG.quarantine) return BROKEN;
    if (status === STATUS_STATIC) return item.batch.kind === "plane" ? GROUND : STATIC;
    const fast = (flags & FLAG.fast) !== 0;
    if (item.colour === undefined || item.fast !== fast) {
      item.fast = fast;
      item.colour = colourOf(item.id);
      if (fast) item.colour.lerp(FAST, 0.7);
      item.dim = item.colour.clone().multiplyScalar(0.7);
    }
    return flags & FLAG.asleep ? item.dim : item.colour;
  }

  /** The body first hit: {id, point} or null. Half-spaces are not picked. */
  pick(raycaster) {
    const meshes = [...this.#batches.values()].filter((b) => b.mesh !== null && b.kind !== "plane").map((b) => b.mesh);
    for (const mesh of meshes) mesh.boundingSphere = null; // computed again, because the bodies have moved
    const [hit] = raycaster.intersectObjects(meshes, false);
    if (hit === undefined) return null;
    return { id: hit.object.userData.batch.shown[hit.instanceId].id, point: hit.point };
  }

  /** The pose in which a body is drawn: {position: Vector3, rotation: Quaternion} or null. */
  poseOf(mirror, moment, id) {
    const slot = mirror.slots.get(id);
    if (slot === undefined || slot >= moment.to.end || moment.to.ids[slot] !== id) return null;
    const { position, rotation } = this.#scratch;
    poseAt(moment, slot, position, rotation);
    return {
      position: new Vector3().fromArray(position),
      rotation: new Quaternion(rotation[1], rotation[2], rotation[3], rotation[0]),
    };
  }
}
