/**
 * A subscription's particles, updated by BLOCKS (docs/PROTOCOL.md, "particles"), as flat arrays in order of (system, serial number). The
 * parts of a frame are built into a second list, which takes the place of the first with the last part.
 */
import { Reader } from "./columns.js";
import { PARTICLE_COLUMN } from "./manifest.js";
import { Closed } from "./wire.js";

/** All columns of particles. */
export const ALL_PARTICLES = Object.values(PARTICLE_COLUMN).reduce((sum, bit) => sum + bit, 0);

/** Bit of a frame's `flags`: BLOCKS follow. WHOLE is a bit of the flags of BLOCKS: part 0 empties the set. */
export const BLOCKS = 16;
const WHOLE = 8;
const KIND = 3;
/** Codes of changes, and ways to send values. */
const SMALL = 125, SAME = 125, FAR = 126;
const VALUES_ALL = 1, VALUES_SOME = 2;
const BLOCK_ROWS = 512;
/** The largest steps of a velocity and of a position. */
const MOST = { velocity: 2 ** 28, position: 2 ** 39 };
/** Bytes of a rounded density and pressure, by profile: the upper ones of a float. */
const ROUNDED = { view: { density: 3, pressure: 2 }, sim: { density: 3, pressure: 3 } };
/** Steps in 1 m/s and in 1 m, by profile. */
const SCALES = { view: { velocity: 128, position: 512 }, sim: { velocity: 1024, position: 4096 } };

/** In the order of bits; velocity comes first, because a position's forecast needs it. */
const COLUMNS = [["velocity", 3], ["position", 3], ["size", 2], ["life", 2], ["density", 1], ["pressure", 1]]
  .map(([name, width]) => ({ name, width, bit: PARTICLE_COLUMN[name], stepped: width === 3 }));

/** A mask of columns from a mask, from names of columns, or from true (all). @throws {TypeError} for an unknown name */
export function particleMask(columns) {
  if (columns === true) return ALL_PARTICLES;
  if (typeof columns === "number") return columns;
  return columns.reduce((mask, name) => {
    if (PARTICLE_COLUMN[name] === undefined) throw new TypeError(`there is no column ${name} of particles`);
    return mask | PARTICLE_COLUMN[name];
  }, 0);
}

const corrupt = (text) => new Closed(`blocks of particles: ${text}`, "corrupt");
const within = (value, most) => Math.min(Math.max(value, -most), most);
const rounded = (value, most) => Math.floor(within(value, most) + 0.5);

/** Particles as columns that grow. */
class List {
  count = 0;
  capacity = 0;

  constructor(columns, quantised) {
    this.names = [["system", 1], ["serial", 1], ...columns.map(({ name, width }) => [name, width])];
    if (quantised) for (const { name, stepped } of columns) if (stepped) this.names.push([`${name}Steps`, 3]);
    this.grow(64);
  }

  grow(capacity) {
    for (const [name, width] of this.names) {
      const array = new Float64Array(capacity * width);
      if (this[name]) array.set(this[name]);
      this[name] = array;
    }
    this.capacity = capacity;
  }

  /** Appends a particle with zeros in all columns; its index. */
  add(system, serial) {
    if (this.count === this.capacity) this.grow(this.capacity * 2);
    const at = this.count++;
    for (const [name, width] of this.names) this[name].fill(0, at * width, (at + 1) * width);
    this.system[at] = system;
    this.serial[at] = serial;
    return at;
  }

  /** Appends particles first … end − 1 of another list; the index of the first one. */
  copy(other, first, end) {
    const at = this.count, count = end - first;
    if (at + count > this.capacity) this.grow(Math.max(at + count, this.capacity * 2));
    for (const [name, width] of this.names) this[name].set(other[name].subarray(first * width, end * width), at * width);
    this.count += count;
    return at;
  }
}

export class Particles {
  /** Particles that each system of the world has, by id; also those that the subscription does not see. */
  systems = new Map();
  /** The server's hash of the last BLOCKS, 8 bytes, or null (hash.js). */
  hash = null;
  /** Grows with every frame that changes particles. */
  version = 0;

  #next;
  #read = 0;
  #system = 0;
  #last = 0;
  #forecast = null;

  /** @param {number} columns sum of bits of PARTICLE_COLUMN @param {"plain" | "exact" | "view" | "sim"} profile */
  constructor(columns, profile) {
    this.mask = columns;
    this.profile = profile;
    this.scales = SCALES[profile] ?? null;
    this.rounded = ROUNDED[profile] ?? {};
    this.columns = COLUMNS.filter(({ bit }) => columns & bit);
    this.shown = new List(this.columns, this.scales !== null);
    this.#next = new List(this.columns, this.scales !== null);
  }

  get count() { return this.shown.count; }
  /** System and serial number of each particle, and its columns, width numbers each: those that were subscribed. */
  get system() { return this.shown.system.subarray(0, this.count); }
  get serial() { return this.shown.serial.subarray(0, this.count); }
  get velocity() { return this.shown.velocity?.subarray(0, 3 * this.count); }
  get position() { return this.shown.position?.subarray(0, 3 * this.count); }
  get size() { return this.shown.size?.subarray(0, 2 * this.count); }
  get life() { return this.shown.life?.subarray(0, 2 * this.count); }
  /** Of the fluid at each particle, kg/m3 and Pa; 0: of no fluid. */
  get density() { return this.shown.density?.subarray(0, this.count); }
  get pressure() { return this.shown.pressure?.subarray(0, this.count); }

  /** The indices [first, end) of a system's particles. */
  range(system) { return [this.#find(system, 0), this.#find(system + 1, 0)]; }

  /** The first index that is not below (system, serial). */
  #find(system, serial) {
    const { shown } = this;
    let low = 0, high = shown.count;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (shown.system[middle] < system || (shown.system[middle] === system && shown.serial[middle] < serial)) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  /** Before a SNAPSHOT. */
  empty() {
    this.shown.count = 0;
    this.systems = new Map();
    this.hash = null;
    this.version++;
  }

  /** Prepares for the next frame. */
  begin() { this.hash = null; }

  /** Applies one part of BLOCKS. @throws {Closed} if it does not fit the particles here */
  take({ kind, part, of, systems, blocks, hash, flags = 0 }) {
    if (kind !== KIND || this.mask === 0) throw new Closed(`blocks of kind ${kind}, not subscribed`, "malformed");
    if (part === 0) {
      this.#next.count = this.#system = this.#last = 0;
      this.#read = (flags & WHOLE) !== 0 ? this.shown.count : 0;
      this.#forecast = null;
    }
    this.systems = new Map(systems);
    if (this.profile === "plain") for (const block of blocks) this.#takePlain(block);
    else if (blocks) this.#takeBlocks(new Reader(blocks));
    if (part + 1 < of) return;
    this.#keepBefore(Infinity, 0);
    [this.shown, this.#next] = [this.#next, this.shown];
    this.hash = hash?.slice() ?? null;
    this.version++;
  }

  /** Takes over the particles before (system, serial), except those of systems that are gone. */
  #keepBefore(system, serial) {
    const { shown } = this, end = Math.max(this.#read, system === Infinity ? shown.count : this.#find(system, serial));
    while (this.#read < end) {
      const first = this.#read, own = shown.system[first];
      while (this.#read < end && shown.system[this.#read] === own) this.#read++;
      if (this.systems.has(own)) this.#next.copy(shown, first, this.#read);
    }
  }

  #open(system, first, last) {
    const ascends = system > this.#system || (system === this.#system && first > this.#last);
    if (!this.systems.has(system) || first < 1 || last < first || !ascends) throw corrupt(`a range of system ${system} is out of order`);
    this.#system = system;
    this.#last = last;
    this.#keepBefore(system, first);
  }

  /** Makes the list of the range: indices of the kept particles, as they were and as they are, and of the new ones. */
  #range(system, last, removed, created) {
    const { shown } = this, next = this.#next, before = [], kept = [], born = [], end = this.#find(system, last + 1);
    for (let gone = 0, fresh = 0; ;) {
      // Up to the next particle that goes or comes all are kept.
      const stop = Math.min(removed[gone] ?? Infinity, created[fresh] ?? Infinity), first = this.#read;
      while (this.#read < end && shown.serial[this.#read] < stop) this.#read++;
      const at = next.copy(shown, first, this.#read);
      for (let i = first; i < this.#read; i++) {
        before.push(i);
        kept.push(at + i - first);
      }
      if (stop === Infinity) return { before, kept, born };
      const here = this.#read < end && shown.serial[this.#read] === stop;
      if (here !== (removed[gone] === stop) || (here && created[fresh] === stop))
        throw corrupt(`particle ${stop} of system ${system} is ${here ? "here, and new" : "removed, but not here"}`);
      if (here) {
        gone++;
        this.#read++;
      } else {
        born.push(next.add(system, created[fresh++]));
      }
    }
  }

  // ---- exact, view, sim --------------------------------------------------------------------------

  #takeBlocks(reader) {
    while (reader.at < reader.bytes.length) {
      const system = reader.longVarint(), first = reader.longVarint(), last = reader.longVarint();
      this.#open(system, first, last);
      const removed = serialsOf(reader, first, last), created = serialsOf(reader, first, last);
      if (this.scales !== null && reader.u8() === 1) this.#forecast = Array.from({ length: 8 }, () => reader.f64());
      const range = this.#range(system, last, removed, created);
      for (const column of this.columns) {
        if (this.scales !== null && column.stepped) this.#takeChanges(reader, column, range);
        else this.#takeValues(reader, column, range.kept);
      }
      for (const column of this.columns) {
        const out = this.scales !== null && column.stepped ? this.#storeOf(column.name) : null;
        for (const at of range.born) {
          if (out !== null) out(3 * at, reader.zigzag(), reader.zigzag(), reader.zigzag());
          else this.#takeValue(reader, column, at);
        }
      }
    }
  }

  #takeValue(reader, { name, width }, at) {
    const array = this.#next[name];
    for (let i = at * width; i < (at + 1) * width; i++)
      array[i] = name === "life" ? reader.i64() : this.rounded[name] ? upperFloat(reader, this.rounded[name])
        : name === "size" && this.scales !== null ? reader.f32() : reader.f64();
  }

  #takeValues(reader, column, kept) {
    const how = reader.u8();
    if (how > VALUES_SOME) throw corrupt("values are sent in an unknown way");
    if (how === VALUES_ALL) for (const at of kept) this.#takeValue(reader, column, at);
    if (how !== VALUES_SOME) return;
    const bits = Array.from({ length: Math.ceil(kept.length / 8) }, () => reader.u8());
    kept.forEach((at, i) => {
      if (bits[i >> 3] >> (i & 7) & 1) this.#takeValue(reader, column, at);
    });
  }

  #takeChanges(reader, { name }, { before, kept }) {
    const expect = name === "velocity" ? this.#speedOf : this.#placeOf, out = this.#storeOf(name);
    const apply = (i, x, y, z) => {
      const old = 3 * before[i], at = 3 * kept[i];
      out(at, x + expect.call(this, old, at, 0), y + expect.call(this, old, at, 1), z + expect.call(this, old, at, 2));
    };
    for (let i = 0; i < kept.length; i++) {
      const code = reader.u8();
      if (code < SMALL) {
        apply(i, code % 5 - 2, Math.floor(code / 5) % 5 - 2, Math.floor(code / 25) - 2);
      } else if (code === SAME) {
        i += reader.longVarint();
        if (i >= kept.length) throw corrupt("a run extends beyond its range");
      } else if (code === FAR) {
        apply(i, reader.zigzag(), reader.zigzag(), reader.zigzag());
      } else {
        throw corrupt(`code ${code} is unknown`);
      }
    }
  }

  /** The steps that number `old` of the shown velocities is expected to be. */
  #speedOf(old, _at, axis) {
    const f = this.#forecast, before = this.shown.velocitySteps[old + axis];
    return f === null ? before : rounded(f[4] * before + f[5 + axis], MOST.velocity);
  }

  /** The same of a position; number `at` of the new velocities is known. */
  #placeOf(old, at, axis) {
    const f = this.#forecast, before = this.shown.positionSteps[old + axis];
    if (f === null) return before;
    const speed = this.shown.velocitySteps?.[old + axis] ?? 0;
    const correction = this.shown.velocitySteps ? this.#next.velocitySteps[at + axis] - this.#speedOf(old, at, axis) : 0;
    return rounded(before + f[0] * (speed + correction / 2) + f[1 + axis], MOST.position);
  }

  /** Stores steps and the numbers they stand for, from number `at` on. */
  #storeOf(name) {
    const steps = this.#next[`${name}Steps`], reals = this.#next[name], scale = this.scales[name], most = MOST[name];
    return (at, x, y, z) => {
      if (!(Math.abs(x) <= most && Math.abs(y) <= most && Math.abs(z) <= most)) throw corrupt(`a ${name} is out of range`);
      steps[at] = x;
      steps[at + 1] = y;
      steps[at + 2] = z;
      reals[at] = x / scale;
      reals[at + 1] = y / scale;
      reals[at + 2] = z / scale;
    };
  }

  // ---- plain -------------------------------------------------------------------------------------

  #takePlain([system, first, last, removed, rows]) {
    this.#open(system, first, last);
    const has = (serial) => {
      const at = this.#find(system, serial);
      return at >= this.#read && at < this.shown.count && this.shown.system[at] === system && this.shown.serial[at] === serial;
    };
    const start = this.#next.count;
    this.#range(system, last, removed, rows.map(([serial]) => serial).filter((serial) => !has(serial)));
    let at = start;
    for (const row of rows) {
      while (at < this.#next.count && this.#next.serial[at] < row[0]) at++;
      if (this.#next.serial[at] !== row[0]) throw corrupt(`particle ${row[0]} of system ${system} is removed and changed`);
      let from = 1;
      for (const { name, width } of this.columns) {
        this.#next[name].set(row.slice(from, from + width), at * width);
        from += width;
      }
    }
  }

  /** Writes the bytes of particle `i` that the hash of particles covers. */
  write(out, i) {
    const { shown } = this;
    out.u32(shown.system[i]);
    out.i64(shown.serial[i]);
    for (const { name, width, stepped } of this.columns)
      for (let k = i * width; k < (i + 1) * width; k++) {
        if (stepped && this.scales !== null) out.i64(shown[`${name}Steps`][k]);
        else if (name === "life") out.i64(shown.life[k]);
        else if (this.rounded[name]) writeUpper(out, shown[name][k], this.rounded[name]);
        else out[name === "size" && this.scales !== null ? "f32" : "f64"](shown[name][k]);
      }
  }
}

/** A float of which only the upper bytes are sent; the others are 0. */
const float = new DataView(new ArrayBuffer(4));
function upperFloat(reader, bytes) {
  float.setUint32(0, 0, true);
  for (let i = 4 - bytes; i < 4; i++) float.setUint8(i, reader.u8());
  const value = float.getFloat32(0, true);
  if (!Number.isFinite(value)) throw corrupt("a number is not finite");
  return value;
}

function writeUpper(out, value, bytes) {
  float.setFloat32(0, value, true);
  for (let i = 4 - bytes; i < 4; i++) out.u8(float.getUint8(i));
}

/** A list of serial numbers, ascending within first … last. */
function serialsOf(reader, first, last) {
  const count = reader.longVarint(), serials = [];
  if (count > BLOCK_ROWS) throw corrupt(`a block lists ${count} particles`);
  for (let i = 0, serial = first - 1; i < count; i++) {
    serials.push(serial += reader.longVarint() + 1);
    if (serial > last) throw corrupt(`particle ${serial} is beyond its range`);
  }
  return serials;
}
