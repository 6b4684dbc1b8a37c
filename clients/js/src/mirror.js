/**
 * A subscription's bodies, updated by SNAPSHOT and DELTA (docs/PROTOCOL.md, "state"), as flat arrays. A body has one slot
 * from its creation to its removal; its column c is c.width items from slot × c.width. Joints are objects (joints.js), particles
 * arrays of their own (particles.js).
 */
import { COLUMNS, Reader, Rows } from "./columns.js";
import { Joints, ROWS } from "./joints.js";
import { COLUMN, WORDS } from "./manifest.js";
import { BLOCKS, Particles } from "./particles.js";
import { Closed } from "./wire.js";

export const PROFILE = { plain: 0, exact: 1, view: 2, sim: 3 };
/** Bit of a frame's `flags`: every row is absolute, none is a difference to the mirror. */
const ABSOLUTE = 1;
const TICK_HASH = 2;
const PARTIAL = 64;
/** Bits of `flags` in column status. */
export const FLAG = { asleep: 1, quarantine: 2, fast: 4, sensor: 8 };
export const STATUSES = WORDS.body_status;

const FIRST_CAPACITY = 64;

export class Mirror {
  /**
   * @param {number} fields sum of bits of COLUMN
   * @param {number} profile one of PROFILE
   * @param {number} joints sum of bits of JOINT_COLUMN
   * @param {number} particles sum of bits of PARTICLE_COLUMN
   */
  constructor(fields, profile, joints = 0, particles = 0) {
    this.fields = fields;
    this.profile = profile;
    /** Columns by name: position, rotation, … only those of `fields`. */
    this.columns = COLUMNS.filter((column) => fields & column.bit);
    /** Profiles view and sim: whole steps by column, four numbers a slot. */
    this.steps = {};
    /** Profiles view and sim: encoded contacts as received, by slot. */
    this.packed = [];
    this.joints = new Joints(joints, ["plain", "exact", "short", "short"][profile]);
    this.particles = new Particles(particles, ["plain", "exact", "view", "sim"][profile]);
    this.epoch = 0;
    this.tick = 0;
    /** Number of times that commands were applied since that tick: (epoch, tick, edit) names the state. */
    this.edit = 0;
    /** Frames applied. */
    this.frames = 0;
    /** All parts of the last frame have arrived, and its base was the state of this mirror. */
    this.whole = false;
    /** The last frame was cut to a budget: bodies are of different ticks until a frame arrives that is not cut. */
    this.partial = false;
    /** The server's hash of the last frame, 8 bytes, or null (hash.js): of the world, or of the columns shown. */
    this.hash = null;
    this.hashOfTick = false;
    this.capacity = 0;
    this.#empty();
    this.#grow(FIRST_CAPACITY);
  }

  get #quantised() { return this.profile === PROFILE.view || this.profile === PROFILE.sim; }

  #free = [];
  #rows = new Rows();
  #changed = new Uint32Array(0);
  #changes = 0;
  /** Parts of an unfinished frame that have arrived; #inside: these are parts of its "rows" or "blocks"; #blocks: BLOCKS follow. */
  #parts = 0;
  #inside = null;
  #blocks = false;

  #empty() {
    /** Slots by id; `ids[slot]` is 0 if the slot is free. */
    this.slots = new Map();
    /** All slots in use are below this. */
    this.end = 0;
    this.#free = [];
    this.#changes = 0;
    /** Ids that the last frame removed. */
    this.removed = [];
    this.ids?.fill(0);
    this.contacts?.fill(null);
  }

  #grow(capacity) {
    const ids = new Uint32Array(capacity);
    if (this.ids) ids.set(this.ids);
    this.ids = ids;
    for (const column of this.columns) {
      const old = this[column.name], array = column.make(capacity);
      if (Array.isArray(array)) old?.forEach((value, i) => { array[i] = value; });
      else if (old) array.set(old);
      this[column.name] = array;
      if (this.#quantised && column.steps) {
        const steps = new Float64Array(capacity * 4);
        if (this.steps[column.name]) steps.set(this.steps[column.name]);
        this.steps[column.name] = steps;
      }
    }
    this.capacity = capacity;
  }

  #create(id) {
    if (this.slots.has(id)) return this.slots.get(id);
    if (this.#free.length === 0 && this.end === this.capacity) this.#grow(this.capacity * 2);
    const slot = this.#free.pop() ?? this.end++;
    this.slots.set(id, slot);
    this.ids[slot] = id;
    return slot;
  }

  #remove(id) {
    const slot = this.slots.get(id);
    if (slot === undefined) throw new Closed(`delta removes body ${id}, which the mirror does not have; send RESYNC`, "corrupt");
    this.slots.delete(id);
    this.ids[slot] = 0;
    if (this.contacts) this.contacts[slot] = null;
    this.#free.push(slot);
    this.removed.push(id);
  }

  /** Slots that the last frame changed, created ones included; valid until the next frame. */
  get changed() { return this.#changed.subarray(0, this.#changes); }

  #noteChanges(slots, count) {
    if (this.#changes + count > this.#changed.length) {
      const wider = new Uint32Array((this.#changes + count) * 2);
      wider.set(this.#changed);
      this.#changed = wider;
    }
    for (let i = 0; i < count; i++) this.#changed[this.#changes++] = slots[i];
  }

  /** Number of bodies. */
  get count() { return this.slots.size; }

  /**
   * Applies a SNAPSHOT, DELTA, ROWS or BLOCKS (or a part of one).
   * @returns {boolean} true if the frame is complete: the mirror has the state of `tick`, and an ACK is due
   * @throws {Closed} if the frame's base is not the state of this mirror; send RESYNC
   */
  take(message) {
    if (message.type === "rows" || message.type === "blocks") return this.#takeMore(message);
    const { type, epoch, tick, edit = 0, part, of, flags = 0 } = message, resumes = part > 0;
    const fits = epoch === this.epoch && message.base === this.tick && (message.base_edit ?? 0) === this.edit;
    if (type === "delta" && !(fits && (this.whole || resumes)))
      throw new Closed(`a delta on tick ${message.base} does not fit the mirror of tick ${this.tick}`, "tick");
    if (resumes && (part !== this.#parts || this.#inside !== null)) throw new Closed("a part of a frame is missing", "sequence");
    this.whole = false;
    this.#parts = 0;
    this.#inside = null;
    if (!resumes) {
      if (type === "snapshot") {
        this.#empty();
        this.joints.empty();
        this.particles.empty();
      }
      this.joints.begin();
      this.particles.begin();
      this.#changes = 0;
      if (this.removed.length > 0) this.removed = [];
    }
    if (this.profile === PROFILE.plain) this.#takePlain(message);
    else this.#takeBlock(message);
    this.#parts = part + 1;
    if (part + 1 < of) return false;
    this.epoch = epoch;
    this.tick = tick;
    this.edit = edit;
    this.partial = (flags & PARTIAL) !== 0;
    this.hash = message.hash?.slice() ?? null;
    this.hashOfTick = (flags & TICK_HASH) !== 0;
    this.#blocks = (flags & BLOCKS) !== 0;
    return this.#await((flags & ROWS) !== 0 ? "rows" : null);
  }

  /** What follows the parts that have come: ROWS, then BLOCKS; then the frame is complete. */
  #await(rows) {
    this.#inside = rows ?? (this.#blocks ? "blocks" : null);
    this.#parts = 0;
    return this.#inside === null && this.#complete();
  }

  #complete() {
    this.whole = true;
    this.frames++;
    return true;
  }

  /** Applies ROWS or BLOCKS, which complete the frame that announced them. */
  #takeMore(message) {
    const { type, epoch, tick, edit = 0, part, of } = message, parts = this.#parts;
    const follows = this.#inside === type && epoch === this.epoch && tick === this.tick && edit === this.edit && part === parts;
    this.#parts = 0;
    this.#inside = null;
    if (!follows) throw new Closed(`${type} of tick ${tick} follow no frame that announced them`, "sequence");
    if (type === "rows") this.joints.take(message);
    else this.particles.take(message);
    if (part + 1 === of) return type === "rows" ? this.#await(null) : this.#complete();
    this.#inside = type;
    this.#parts = parts + 1;
    return false;
  }

  #takePlain({ type, created, removed, columns }) {
    if (type === "delta") {
      for (const id of removed ?? []) this.#remove(id);
      for (const id of created ?? []) this.#create(id);
    }
    const slots = (columns ?? []).map((row) => this.#slotOf(row[0], type));
    this.#noteChanges(slots, slots.length);
    slots.forEach((slot, i) => {
      let at = 1;
      for (const column of this.columns) at = column.plain(columns[i], at, this[column.name], slot);
    });
  }

  #slotOf(id, type) {
    const slot = type === "snapshot" ? this.#create(id) : this.slots.get(id);
    if (slot === undefined) throw new Closed(`a row changes body ${id}, which the mirror does not have`, "corrupt");
    return slot;
  }

  /** Sets steps to 0: the base of differences for new bodies and for absolute rows. */
  #zero(slots, columns) {
    for (const { name } of columns) for (const slot of slots) this.steps[name]?.fill(0, slot * 4, slot * 4 + 4);
  }

  /** Finds the slots of rows. Consecutive ids mostly have consecutive slots, so few lookups are needed. */
  #find({ ids, slots, count }, type) {
    for (let i = 0, next = 0; i < count; i++) {
      const slot = this.ids[next] === ids[i] ? next : this.#slotOf(ids[i], type);
      slots[i] = slot;
      next = slot + 1;
    }
    this.#noteChanges(slots, count);
  }

  #takeBlock({ type, created, removed, columns, flags }) {
    if (type === "delta") {
      if (removed) for (const id of new Reader(removed).ids()) this.#remove(id);
      if (created) this.#zero(Array.from(new Reader(created).ids(), (id) => this.#create(id)), this.columns);
    }
    if (!columns) return;
    const afresh = type === "snapshot" || (flags & ABSOLUTE) !== 0;
    const reader = new Reader(columns), rows = this.#rows;
    reader.rows(this.#quantised, rows);
    this.#find(rows, type);
    for (const column of this.columns) {
      const here = rows.having(column.bit);
      if (here.length === 0) continue;
      if (this.#quantised && column.short) {
        column.short(reader, this.profile, this.packed, this[column.name], here);
        continue;
      }
      if (!this.#quantised || column.steps === undefined) {
        column.exact(reader, this[column.name], here);
        continue;
      }
      if (afresh) this.#zero(here, [column]);
      column.steps(reader, this.profile, this.steps[column.name], this[column.name], here);
    }
  }

  /** One body as an object, or null. It allocates; to draw thousands, read the arrays. */
  body(id) {
    const slot = this.slots.get(id);
    if (slot === undefined) return null;
    const body = { id };
    for (const { name, width } of this.columns) {
      const array = this[name];
      if (name === "status") {
        body.status = STATUSES[array[slot * 2]];
        body.asleep = (array[slot * 2 + 1] & FLAG.asleep) !== 0;
        body.fast = (array[slot * 2 + 1] & FLAG.fast) !== 0;
        body.sensor = (array[slot * 2 + 1] & FLAG.sensor) !== 0;
        body.quarantine = (array[slot * 2 + 1] & FLAG.quarantine) !== 0;
      } else if (name === "owner") {
        [body.owner, body.tag] = array.subarray(slot * 2, slot * 2 + 2);
      } else if (Array.isArray(array)) {
        body[name] = array[slot];
      } else {
        body[name] = Array.from(array.subarray(slot * width, (slot + 1) * width));
      }
    }
    return body;
  }
}

/** All columns but contacts, which are subscribed to separately because they are large. */
export const ALL = Object.values(COLUMN).reduce((sum, bit) => sum + bit, 0) - COLUMN.contacts;
