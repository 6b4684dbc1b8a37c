/**
 * All bodies as instances: one draw call for each shape, however many bodies have it. A placement of a body is one
 * instance of its shape's batch.
 */
import { Box3, Box3Helper, Color, Matrix4, MeshLambertMaterial, Quaternion, Vector3 } from "three";
import { FLAG, shapes } from "cairn-client";
import { edgeLines, edgesOf } from "./edges.js";
import { geometryOf, groundTexture } from "./geometry.js";
import { Instances } from "./instances.js";
import { poseAt } from "./playback.js";
import { posed } from "./posed.js";
import { HIDES, MOVES, RECEIVES } from "./shade.js";

const FIRST_INSTANCES = 32;
const CHOSEN = new Color(0xffd166);
/** A chosen half-space, which has no outline. */
const CHOSEN_GROUND = new Color(0xc2c6c2).lerp(CHOSEN, 0.25);
const STATIC = new Color(0xb2b6b8);
const GROUND = new Color(0xc2c6c2);
/** Colours of dynamic bodies: one for each shape, in the order in which shapes appear. */
const PALETTE = [0xc49a6c, 0x56789a, 0xb0563f, 0x71905a, 0xcda23f, 0x7f6397, 0x458f8a, 0xa39c8f].map((hex) => new Color(hex));
/** Spread of hue and lightness among bodies of one shape. */
const SPREAD = { hue: 0.02, lightness: 0.1 };
/** Opacity of translucent bodies, of sensors, and of edges. */
const FADED = 0.35, GLASS = 0.22, EDGE = 0.4;
/** Bodies so thin have no edges, pixels; one pixel more, and they are as dark as others. */
const FINEST = 0.5;
const SENSOR = new Color(0x5fd0ff);
const BROKEN = new Color(0xff3355);
/** Bodies that do not pass through dynamic ones either are shaded toward it. */
const FAST = new Color(0xff8c1a);
/** Of more bodies than this, bounds() and subject() look at a part. */
const BOUNDED_MAX = 1000;
/** The share of the outermost bodies at each end that bounds() ignores if they make the whole so many times as large. */
const CUT = 0.02, FAR = 1.5;
/** How much larger a first view may be that shows static bodies, too; with at most so many that move, these are small beside what they
 * move on. */
const WIDENED = 1.7, FEW = 3, WIDENED_FEW = 11;
/** The same for a static body around all of them. */
const WIDENED_AROUND = 2.6;
const POINT = new Box3(new Vector3(), new Vector3());
const STATUS_STATIC = 1;

/** Instances of one shape. */
class Batch {
  /** @param sensor whether its bodies are sensors, which are drawn translucent with an outline; @param fixed whether they are static */
  constructor(scene, name, sensor, fixed) {
    Object.assign(this, { scene, name, sensor, fixed });
    // Edges lie on the faces, so the faces step back.
    this.material = posed(new MeshLambertMaterial({ vertexColors: true, polygonOffset: true, polygonOffsetFactor: 1, polygonOffsetUnits: 1 }),
      { lit: true });
    if (fixed) this.material.defines = { FLOOR: "" };
    this.mesh = null;
    this.edges = null;
    this.edgeGeometry = null;
    this.tint = null;
    this.geometry = null;
    this.count = 0;
    /** All instances: {id, slot, local}. */
    this.items = [];
    this.size = new Vector3();
    /** Of these the visible ones, by index of the mesh's instances. */
    this.shown = [];
  }

  /** Makes the geometry. Until then the shape's bytes have not arrived and nothing is drawn. */
  show(description) {
    this.geometry = geometryOf(description);
    this.kind = description.kind;
    this.description = description;
    if (this.kind === "plane") this.material.map = groundTexture();
    this.edgeGeometry = edgesOf(this.kind, this.geometry);
    this.fade(false);
    this.#fit();
  }

  #fit() {
    if (this.geometry === null) return;
    const capacity = Math.max(FIRST_INSTANCES, 2 ** Math.ceil(Math.log2(this.count + 1)));
    if (this.mesh !== null && this.mesh.capacity >= this.count) return;
    this.#remove();
    this.mesh = new Instances(this.geometry, this.material, capacity); // the next draw() sets their number
    this.mesh.castShadow = this.kind !== "plane" && !this.sensor;
    this.mesh.receiveShadow = true;
    this.#layers();
    this.mesh.userData.batch = this;
    this.scene.add(this.mesh);
    if (this.edgeGeometry === null) return;
    this.edges = edgeLines(this.edgeGeometry, this.mesh,
      this.sensor ? { colour: SENSOR, opacity: 0.9 } : { colour: 0x14100c, opacity: EDGE });
    this.scene.add(this.edges);
  }

  /** What is translucent neither hides the sky nor lies under it. */
  #layers() {
    const { layers } = this.mesh, solid = !this.material.transparent;
    layers.set(0);
    if (solid) layers.enable(RECEIVES);
    if (solid && this.mesh.castShadow) layers.enable(HIDES);
    if (solid && this.mesh.castShadow && !this.fixed) layers.enable(MOVES);
  }

  #remove() {
    for (const object of [this.mesh, this.edges]) {
      object?.removeFromParent();
      object?.geometry.dispose();
    }
    this.edges?.material.dispose();
    this.edges = null;
  }

  /** The number of instances that the next picture shows. */
  set visible(count) {
    this.mesh.count = count;
    if (this.edges !== null) this.edges.geometry.instanceCount = count;
  }

  /** The box around the shape in its own axes; a point until the shape has arrived. */
  get box() {
    if (this.geometry === null || this.kind === "plane") return POINT;
    if (this.geometry.boundingBox === null) this.geometry.computeBoundingBox();
    return this.geometry.boundingBox;
  }

  /** Edges of bodies that are thinner than about a pixel would cover them. */
  fineEdges(metresPerPixel) {
    if (this.edges === null || this.sensor) return;
    const { x, y, z } = this.box.getSize(this.size), pixels = Math.min(x, y, z) / metresPerPixel;
    this.edges.material.opacity = EDGE * Math.min(Math.max(pixels - FINEST, 0), 1);
  }

  fade(on) {
    if (this.kind === "plane") return;
    const clear = on || this.sensor;
    Object.assign(this.material,
      { transparent: clear, opacity: this.sensor ? GLASS : on ? FADED : 1, depthWrite: !clear, needsUpdate: true });
    if (this.mesh !== null) this.#layers();
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
    this.#remove();
    this.geometry?.dispose();
    this.edgeGeometry?.dispose();
    this.material.dispose();
  }
}

/** The colour of a body: its shape's, varied a little by its id, so that neighbours can be told apart. */
function colourOf(tint, id) {
  const hue = (id * 0.61803398875) % 1 - 0.5, lightness = (id * 0.75487766625) % 1 - 0.5;
  return tint.clone().offsetHSL(hue * SPREAD.hue, 0, lightness * SPREAD.lightness);
}

const sizeOf = (box) => box.min.distanceTo(box.max);

/** The box around boxes, without the outermost CUT at both ends of each axis if these lie far away. */
function boundsOf(boxes) {
  const whole = boxes.reduce((all, box) => all.union(box), new Box3()), away = Math.floor(boxes.length * CUT);
  if (away === 0) return whole;
  const up = (a, b) => a - b, down = (a, b) => b - a, inner = new Box3();
  for (const [corner, order] of [["min", up], ["max", down]])
    for (const axis of [0, 1, 2]) inner[corner].setComponent(axis, boxes.map((box) => box[corner].getComponent(axis)).sort(order)[away]);
  return sizeOf(whole) > FAR * sizeOf(inner) ? inner : whole;
}

export class Crowd {
  #batches = new Map();
  /** id → its instances */
  #bodies = new Map();
  #fetch;
  /** id → 0xRRGGBB that the scene or a command gave */
  #given = new Map();
  /** id → what pictures show of it in place of its shapes: [{shape, position, rotation, colour}] */
  #visuals = new Map();
  #bare = false;
  /** Colours of the palette in use. */
  #tints = 0;
  #scratch = {
    position: new Float64Array(3), rotation: new Float64Array(4), place: new Float64Array(3), spin: new Float64Array(4), at: new Vector3(), turn: new Quaternion(),
    one: new Vector3(1, 1, 1), world: new Matrix4(),
  };

  /** @param fetch name of a shape → promise of its canonical bytes */
  constructor(scene, fetch) {
    this.scene = scene;
    this.#fetch = fetch;
    this.chosen = 0;
    /** Around a chosen static body, which may be a whole terrain and keeps its colour. */
    this.outline = new Box3Helper(new Box3(), CHOSEN);
    this.outline.visible = false;
    scene.add(this.outline);
    /** Grows when bodies, their states or the look of all of them change. */
    this.version = 0;
  }

  /** True if all shapes are polygons, which exist in planar worlds only. */
  get planar() {
    const kinds = [...this.#batches.values()].map(({ kind }) => kind);
    return kinds.length > 0 && kinds.every((kind) => kind === "polygon");
  }

  /** The kinds of a body's shapes. */
  kindsOf(id) { return (this.#bodies.get(id) ?? []).map(({ batch }) => batch.kind ?? "").filter((kind) => kind !== ""); }

  /** Height of the highest level half-space, m; null: there is none. */
  get ground() {
    const heights = [...this.#batches.values()].filter(({ kind, description }) => kind === "plane" && description.normal[1] > 0.999)
      .map(({ description }) => description.offset);
    return heights.length > 0 ? Math.max(...heights) : null;
  }

  /** True once every shape has arrived and is drawn. */
  get complete() { return [...this.#batches.values()].every((batch) => batch.mesh !== null); }

  clear() {
    this.version++;
    for (const batch of this.#batches.values()) batch.dispose();
    this.#batches.clear();
    this.#tints = 0;
    this.#bodies.clear();
    this.#given = new Map();
    this.#visuals = new Map();
  }

  /** The visuals of bodies, as World.visuals has them. Those of bodies that exist only in the past are kept. */
  dress(visuals, mirror) {
    const changed = new Set();
    for (const [id, list] of visuals) {
      const known = this.#visuals.get(id);
      if (known === list || (known !== undefined && JSON.stringify(known) === JSON.stringify(list))) continue;
      this.#visuals.set(id, list);
      changed.add(id);
    }
    for (const id of this.#visuals.keys())
      if (!visuals.has(id) && this.#bodies.has(id)) {
        this.#visuals.delete(id);
        changed.add(id);
      }
    this.#remake(mirror, changed);
  }

  /** Whether bodies are drawn by the shapes that collide, whatever visuals they have. */
  bare(on, mirror) {
    if (this.#bare === on) return;
    this.#bare = on;
    if (mirror !== null) this.#remake(mirror, this.#visuals.keys());
  }

  #remake(mirror, ids) {
    for (const id of ids) {
      const slot = mirror.slots.get(id);
      if (slot !== undefined && this.#bodies.has(id)) this.#make(mirror, slot);
      this.version++;
    }
  }

  /** The colours that bodies were given: id → 0xRRGGBB. Those of bodies that exist only in the past are kept. */
  colour(given) {
    const { size } = this.#given;
    let changed = false;
    for (const [id, colour] of given) {
      changed ||= this.#given.get(id) !== colour;
      this.#given.set(id, colour);
    }
    for (const id of this.#bodies.keys())
      if (size > 0 && !given.has(id)) changed = this.#given.delete(id) || changed;
    if (changed) this.version++;
  }

  /** The colour that a body was given, or undefined. */
  colourGiven(id) { return this.#given.get(id); }

  #batch(name, sensor, fixed) {
    const key = `${name}${sensor ? " sensor" : ""}${fixed ? " fixed" : ""}`;
    let batch = this.#batches.get(key);
    if (batch === undefined) {
      batch = new Batch(this.scene, name, sensor, fixed);
      this.#batches.set(key, batch);
      const bytesOf = name === "" ? Promise.resolve(shapes.sphere(0.05)) : this.#fetch(name);
      bytesOf.then((bytes) => { if (this.#batches.get(key) === batch) this.#shown(batch, shapes.describe(bytes)); })
        .catch(() => {}); // The connection is lost; the next one requests the shape again.
    }
    return batch;
  }

  #shown(batch, description) {
    batch.show(description);
    this.version++;
    if (this.#faded) batch.fade(true);
  }

  #faded = false;
  #paint = null;

  /** Paints bodies by a function (mirror, id) → colour or null (as without it); null: none. */
  set paint(paint) {
    this.#paint = paint;
    this.version++;
  }

  /** Whether bodies are translucent. */
  set faded(on) {
    this.#faded = on;
    this.version++;
    for (const batch of this.#batches.values()) if (batch.mesh !== null) batch.fade(on);
  }

  #drop(id) {
    for (const item of this.#bodies.get(id) ?? []) item.batch.remove(item);
    this.#bodies.delete(id);
  }

  #make(mirror, slot) {
    const id = mirror.ids[slot], sensor = (mirror.status[slot * 2 + 1] & FLAG.sensor) !== 0;
    const fixed = mirror.status[slot * 2] === STATUS_STATIC;
    const visuals = this.#bare ? undefined : this.#visuals.get(id), given = visuals ?? mirror.shapes[slot];
    // A point mass has no shape; it is drawn small.
    const placements = given?.length > 0 ? given : [{ shape: "", position: [0, 0, 0], rotation: [1, 0, 0, 0] }];
    const known = this.#bodies.get(id);
    if (known !== undefined && known.shapes === given && known.sensor === sensor && known.fixed === fixed) return; // the same list: nothing was made anew
    const key = placements.map(({ shape, position, rotation, colour }) => `${shape}${position}${rotation}${colour ?? ""}`).join() + sensor + fixed;
    if (known?.key === key) {
      known.shapes = given;
      return;
    }
    this.#drop(id);
    const items = placements.map(({ shape, position: [x, y, z], rotation: [w, i, j, k], colour }) => {
      const at = new Vector3(x, y, z), turn = new Quaternion(i, j, k, w), local = new Matrix4().compose(at, turn, this.#scratch.one);
      const item = { id, slot, local, at, turn, own: colour ?? undefined, identity: x === 0 && y === 0 && z === 0 && w === 1 };
      this.#batch(shape, sensor, fixed).add(item);
      return item;
    });
    Object.assign(items, { key, sensor, fixed, shapes: given });
    this.#bodies.set(id, items);
  }

  /** Follows a frame: adds created bodies, removes others. `whole`: a snapshot, which replaces all bodies. */
  follow(mirror, whole) {
    if (whole || mirror.changed.length > 0 || mirror.removed.length > 0) this.version++;
    for (const id of mirror.removed) this.#drop(id);
    if (whole) for (const id of [...this.#bodies.keys()]) if (!mirror.slots.has(id)) this.#drop(id);
    for (const slot of mirror.changed) {
      const items = this.#bodies.get(mirror.ids[slot]);
      if (items !== undefined) for (const item of items) item.slot = slot;
      this.#make(mirror, slot);
    }
  }

  /** Writes the poses and colours of all instances. `moment`: from Playback.at; `metresPerPixel`: where the camera looks. */
  draw(mirror, moment, metresPerPixel) {
    const { position, rotation, place, spin, at, turn } = this.#scratch;
    for (const batch of this.#batches.values()) {
      if (batch.mesh === null) continue;
      let shown = 0;
      for (const item of batch.items) {
        const alive = item.slot < moment.to.end && moment.to.ids[item.slot] === item.id;
        if (!alive) continue;
        poseAt(moment, item.slot, position, rotation);
        for (let k = 0; k < 4; k++) spin[k] = rotation[(k + 1) % 4];
        if (item.identity) {
          batch.mesh.setPose(shown, position, spin);
        } else {
          turn.fromArray(spin);
          at.copy(item.at).applyQuaternion(turn).toArray(place);
          for (let k = 0; k < 3; k++) place[k] += position[k];
          turn.multiply(item.turn).toArray(spin);
          batch.mesh.setPose(shown, place, spin);
        }
        batch.mesh.setColour(shown, this.#colour(mirror, item));
        batch.shown[shown++] = item;
      }
      batch.mesh.commit();
      batch.visible = shown;
      batch.fineEdges(metresPerPixel);
    }
    this.#outlineChosen(mirror, moment);
  }

  #outlineChosen(mirror, moment) {
    const slot = mirror.slots.get(this.chosen), still = slot !== undefined && mirror.status[slot * 2] === STATUS_STATIC;
    const drawn = still ? this.drawnBox(mirror, moment, this.chosen) : null;
    this.outline.visible = drawn !== null;
    if (drawn !== null) this.outline.box.copy(drawn.box);
  }

  #colour(mirror, item) {
    const status = mirror.status[item.slot * 2], flags = mirror.status[item.slot * 2 + 1];
    if (item.id === this.chosen && status !== STATUS_STATIC) return CHOSEN;
    if (item.id === this.chosen && item.batch.kind === "plane") return CHOSEN_GROUND;
    if (flags & FLAG.quarantine) return BROKEN;
    const painted = this.#paint?.(mirror, item.id) ?? null;
    if (painted !== null) return painted;
    const given = item.own ?? this.#given.get(item.id);
    if (given === undefined && status === STATUS_STATIC) return item.batch.kind === "plane" ? GROUND : STATIC;
    if (given === undefined && item.batch.sensor) return SENSOR;
    const fast = (flags & FLAG.fast) !== 0;
    if (item.colour === undefined || item.fast !== fast || item.given !== given) {
      Object.assign(item, { fast, given });
      if (given === undefined) item.batch.tint ??= PALETTE[this.#tints++ % PALETTE.length];
      item.colour = given !== undefined ? new Color(given) : colourOf(item.batch.tint, item.id);
      if (fast && given === undefined) item.colour.lerp(FAST, 0.7);
      item.dim = item.colour.clone().multiplyScalar(0.7);
    }
    return flags & FLAG.asleep ? item.dim : item.colour;
  }

  /** The body first hit: {id, point} or null. Half-spaces are not picked. */
  pick(raycaster) {
    const meshes = [...this.#batches.values()].filter((b) => b.mesh !== null && b.kind !== "plane").map((b) => b.mesh);
    const [hit] = raycaster.intersectObjects(meshes, false);
    if (hit === undefined) return null;
    return { id: hit.object.userData.batch.shown[hit.instanceId].id, point: hit.point };
  }

  /** Boxes of bodies but half-spaces, of those that are static and of the others; of many bodies a part. */
  #boxes(mirror) {
    const bodies = [...this.#bodies], every = Math.max(Math.ceil(bodies.length / BOUNDED_MAX), 1), still = [], moving = [];
    for (let i = 0; i < bodies.length; i += every) {
      const [id, items] = bodies[i], slot = mirror.slots.get(id);
      if (slot === undefined || items.every(({ batch }) => batch.kind === "plane")) continue;
      (mirror.status[slot * 2] === STATUS_STATIC ? still : moving).push(this.#boxOf(mirror, slot, items));
    }
    return { still, moving };
  }

  /**
   * The box around the bodies that are not static, or else (or with `statics`) all but half-spaces; a few of many that lie far away
   * are ignored. @returns {Box3|null}
   */
  bounds(mirror, { statics = false } = {}) {
    const { still, moving } = this.#boxes(mirror), shown = moving.length > 0 && !statics ? moving : [...still, ...moving];
    return shown.length === 0 ? null : boundsOf(shown);
  }

  /**
   * Boxes of what a first view shows: the bodies that are not static within bounds(), and static ones, small ones first, while the
   * whole stays at most so many times as large (WIDENED; WIDENED_FEW around a few bodies, WIDENED_AROUND with what holds all of them).
   */
  subject(mirror) {
    const { still, moving } = this.#boxes(mirror), main = moving.length > 0 ? moving : still;
    if (main.length === 0) return [];
    const whole = boundsOf(main);
    const boxes = main.map((box) => box.clone().intersect(whole)).filter((box) => !box.isEmpty());
    const most = sizeOf(whole) * (main.length <= FEW ? WIDENED_FEW : WIDENED);
    const held = whole.clone(), around = Math.max(most, sizeOf(whole) * WIDENED_AROUND);
    for (const box of main === still ? [] : still.sort((a, b) => sizeOf(a) - sizeOf(b))) {
      if (sizeOf(whole.clone().union(box)) > (box.containsBox(held) ? around : most)) continue;
      whole.union(box);
      boxes.push(box);
    }
    return boxes;
  }

  /** The box along the world's axes around a body. */
  #boxOf(mirror, slot, items) {
    const { at, turn, one, world } = this.#scratch, box = new Box3();
    const [w, x, y, z] = mirror.rotation.subarray(slot * 4, slot * 4 + 4);
    world.compose(at.fromArray(mirror.position, slot * 3), turn.set(x, y, z, w), one);
    for (const { batch, local } of items) box.union(batch.box.clone().applyMatrix4(local).applyMatrix4(world));
    return box;
  }

  /** The pose in which a body is drawn and the box along the world's axes around it, or null, also for half-spaces. */
  drawnBox(mirror, moment, id) {
    const pose = this.poseOf(mirror, moment, id), items = this.#bodies.get(id);
    if (pose === null || items === undefined || items.some(({ batch }) => batch.kind === "plane")) return null;
    const { one, world } = this.#scratch, box = new Box3();
    world.compose(pose.position, pose.rotation, one);
    for (const { batch, local } of items) box.union(batch.box.clone().applyMatrix4(local).applyMatrix4(world));
    return { pose, box };
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
