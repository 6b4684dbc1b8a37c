/**
 * A subscription's bodies, kept from SNAPSHOT and DELTA (docs/PROTOCOL.md, "state"), as flat arrays: a body has one slot
 * from its creation to its removal, and column c of it is c.width items from slot × width.
 */
import { COLUMNS, Reader } from "./columns.js";
import { COLUMN } from "./manifest.js";
import { Closed } from "./wire.js";

export const PROFILE = { plain: 0, exact: 1, view: 2, sim: 3 };
/** Bit of a frame's `flags`: no row is a difference to what is here. */
const ABSOLUTE = 1;
/** Bits of `flags` in column status. */
export const FLAG = { asleep: 1, quarantine: 2 };
export const STATUSES = ["inactive", "static", "dynamic", "animated"];

const FIRST_CAPACITY = 64;

export class Mirror {
  /**
   * @param {number} fields sum of bits of COLUMN
   * @param {number} profile one of PROFILE
   */
  constructor(fields, profile) {
    this.fields = fields;
    this.profile = profile;
    /** Columns by name: position, rotation, … only those of `fields`. */
    this.columns = COLUMNS.filter((column) => fields & column.bit);
    /** Profiles view and sim: whole steps by column, four numbers a slot. */
    this.steps = {};
    this.epoch = 0;
    this.tick = 0;
    /** Frames applied. */
    this.frames = 0;
    this.capacity = 0;
    this.#empty();
    this.#grow(FIRST_CAPACITY);
  }

  get #quantised() { return this.profile === PROFILE.view || this.profile === PROFILE.sim; }

  #free = [];
  #partial = false;
  /** Slots of a block's rows, and of those with a certain column: kept from frame to frame, so that none is garbage. */
  #slots = new Uint32Array(0);
  #here = new Uint32Array(0);

  #empty() {
    /** slot of an id; `ids[slot]` is 0 where nobody is. */
    this.slots = new Map();
    /** slots in use end before here. */
    this.end = 0;
    this.#free = [];
    /** Slots that the last frame changed, created ones included, and ids that it removed. */
    this.changed = [];
    this.removed = [];
    this.ids?.fill(0);
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
    if (slot === undefined) throw new Closed(`body ${id} is removed but was never there`, "corrupt");
    this.slots.delete(id);
    this.ids[slot] = 0;
    this.#free.push(slot);
    this.removed.push(id);
  }

  /** Number of bodies. */
  get count() { return this.slots.size; }

  /**
   * Applies a SNAPSHOT or DELTA (or a part of one).
   * @returns {boolean} true when the frame is whole: the state is that of `tick` and wants its ACK
   * @throws {Closed} when it does not stand on what is here; ask for RESYNC
   */
  take(message) {
    if (message.type === "delta" && (message.epoch !== this.epoch || message.base !== this.tick))
      throw new Closed(`a delta on tick ${message.base} came to tick ${this.tick}`, "tick");
    if (message.part === 0) {
      if (message.type === "snapshot") this.#empty();
      this.changed = [];
      this.removed = [];
    } else if (!this.#partial) {
      throw new Closed("a frame begins in the middle", "sequence");
    }
    this.#partial = message.part + 1 < message.of;
    if (this.profile === PROFILE.plain) this.#takePlain(message);
    else this.#takeBlock(message);
    if (this.#partial) return false;
    this.epoch = message.epoch;
    this.tick = message.tick;
    this.frames++;
    return true;
  }

  #takePlain({ type, created, removed, columns }) {
    if (type === "delta") {
      for (const id of removed ?? []) this.#remove(id);
      for (const id of created ?? []) this.#create(id);
    }
    for (const row of columns ?? []) {
      const slot = this.#row(row[0], type);
      let at = 1;
      for (const column of this.columns) at = column.plain(row, at, this[column.name], slot);
    }
  }

  #row(id, type) {
    const slot = type === "snapshot" ? this.#create(id) : this.slots.get(id);
    if (slot === undefined) throw new Closed(`a row of body ${id}, which was never created`, "corrupt");
    this.changed.push(slot);
    return slot;
  }

  /** Of the block's rows, the slots whose mask has the bit; good until asked again. */
  #with(bit, masks) {
    let count = 0;
    for (let i = 0; i < masks.length; i++) if (masks[i] & bit) this.#here[count++] = this.#slots[i];
    return this.#here.subarray(0, count);
  }

  /** Bodies that are new here have steps 0. */
  #zero(slots, columns) {
    for (const { name } of columns) for (const slot of slots) this.steps[name]?.fill(0, slot * 4, slot * 4 + 4);
  }

  #takeBlock({ type, created, removed, columns, flags }) {
    if (type === "delta") {
      if (removed) for (const id of new Reader(removed).ids()) this.#remove(id);
      if (created) this.#zero(Array.from(new Reader(created).ids(), (id) => this.#create(id)), this.columns);
    }
    if (!columns) return;
    const afresh = type === "snapshot" || (flags & ABSOLUTE) !== 0;
    const reader = new Reader(columns), { ids, masks } = reader.rows(this.#quantised);
    if (this.#slots.length < ids.length) {
      this.#slots = new Uint32Array(ids.length * 2);
      this.#here = new Uint32Array(ids.length * 2);
    }
    const slots = this.#slots;
    for (let i = 0; i < ids.length; i++) slots[i] = this.#row(ids[i], type);
    for (const column of this.columns) {
      const here = this.#with(column.bit, masks);
      if (here.length === 0) continue;
      if (!this.#quantised || column.steps === undefined) {
        column.exact(reader, this[column.name], here);
        continue;
      }
      if (afresh) this.#zero(here, [column]);
      column.steps(reader, this.profile, this.steps[column.name], this[column.name], here);
    }
  }

  /** One body as an object, or null: for looking at, not for drawing thousands. */
  body(id) {
    const slot = this.slots.get(id);
    if (slot === undefined) return null;
    const body = { id };
    for (const { name, width } of this.columns) {
      const array = this[name];
      if (name === "status") {
        body.status = STATUSES[array[slot * 2]];
        body.asleep = (array[slot * 2 + 1] & FLAG.asleep) !== 0;
        body.quarantine = (array[slot * 2 + 1] & FLAG.quarantine) !== 0;
      } else if (name === "owner") {
        [body.owner, body.tag] = array.subarray(slot * 2, slot * 2 + 2);
      } else if (name === "shapes") {
        body.shapes = array[slot];
      } else {
        body[name] = Array.from(array.subarray(slot * width, (slot + 1) * width));
      }
    }
    return body;
  }
}

/** All columns there are. */
export const ALL = Object.values(COLUMN).reduce((sum, bit) => sum + bit, 0);
