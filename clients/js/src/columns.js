/**
 * Columns of a mirror: what a body has, by bit of SUBSCRIBE.fields, as flat arrays indexed by slot
 * (docs/PROTOCOL.md, "state").
 */
import { COLUMN } from "./manifest.js";

const NAME_BYTES = 32;

/** Reads forward through bytes; every read past the end throws a RangeError. */
export class Reader {
  constructor(bytes) {
    this.bytes = bytes;
    this.view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    this.at = 0;
  }

  u8() { return this.view.getUint8(this.at++); }

  f64() {
    const value = this.view.getFloat64(this.at, true);
    this.at += 8;
    return value;
  }

  u32() {
    const value = this.view.getUint32(this.at, true);
    this.at += 4;
    return value;
  }

  i64() {
    const value = Number(this.view.getBigInt64(this.at, true));
    this.at += 8;
    return value;
  }

  /** Seven bits a byte, low ones first; at most 32 bits. */
  varint() {
    let value = 0;
    for (let shift = 0; shift < 35; shift += 7) {
      const byte = this.u8();
      value += (byte & 0x7f) * 2 ** shift;
      if (byte < 0x80) return value;
    }
    throw new RangeError("a varint of more than 32 bits");
  }

  /** A varint of at most 8 bytes: whole within ±2^53 as far as the wire allows. */
  longVarint() {
    // Most changes take one byte.
    if (this.bytes[this.at] < 0x80) return this.bytes[this.at++];
    let value = 0;
    for (let i = 0, unit = 1; i < 8; i++, unit *= 128) {
      const byte = this.u8();
      value += (byte & 0x7f) * unit;
      if (byte < 0x80) return value;
    }
    throw new RangeError("a varint of more than 8 bytes");
  }

  zigzag() { return unzigzag(this.longVarint()); }

  /** A count and that many ids, ascending, as gaps. */
  ids() {
    const count = this.varint();
    if (count > this.bytes.length) throw new RangeError("more ids than bytes");
    const ids = new Uint32Array(count);
    let id = 0;
    for (let i = 0; i < count; i++) ids[i] = id += this.varint() + 1;
    return ids;
  }

  /** Ids and masks of a block: runs in view and sim, one by one in profile exact. */
  rows(inRuns) {
    if (!inRuns) {
      const ids = this.ids(), masks = this.bytes.subarray(this.at, this.at + ids.length);
      this.at += ids.length;
      return { ids, masks };
    }
    const count = this.varint();
    if (count > this.bytes.length - this.at) throw new RangeError("more rows than bytes");
    const ids = new Uint32Array(count), masks = new Uint8Array(count);
    for (let row = 0, id = 0; row < count;) {
      const head = this.longVarint(), length = head % 2 ? this.varint() + 2 : 1, mask = this.u8();
      if (length > count - row) throw new RangeError("a run beyond the last row");
      id += Math.floor(head / 2);
      masks.fill(mask, row, row + length);
      for (const end = row + length; row < end; row++) ids[row] = ++id;
    }
    return { ids, masks };
  }

  hex(count) {
    if (this.at + count > this.bytes.length) throw new RangeError("the bytes end early");
    let text = "";
    for (let i = 0; i < count; i++) text += this.bytes[this.at++].toString(16).padStart(2, "0");
    return text;
  }
}

function unzigzag(u) { return u % 2 === 0 ? u / 2 : -(u + 1) / 2; }

function hex(bytes) {
  return new Reader(bytes).hex(bytes.length);
}

const ROOT_HALF = Math.SQRT1_2;
/** Profiles view (2) and sim (3): steps in a metre, in 1 m/s or 1 rad/s, and N of rotations. */
const SCALE = { 2: { position: 512, velocity: 128, spin: 128, rotation: 255 },
  3: { position: 4096, velocity: 1024, spin: 1024, rotation: 16383 } };

/** Changes of a column of three numbers, in whole steps. */
function stepsOf(name) {
  return (reader, profile, steps, array, slots) => {
    const scale = SCALE[profile][name];
    for (const slot of slots)
      for (let i = slot * 4, k = slot * 3; k < slot * 3 + 3; i++, k++) array[k] = (steps[i] += reader.zigzag()) / scale;
  };
}

/** Changes of rotations: steps[4 slot] says which component is left out, the other three follow. */
function rotationSteps(reader, profile, steps, array, slots) {
  const unit = ROOT_HALF / SCALE[profile].rotation;
  for (const slot of slots) {
    const at = slot * 4, first = reader.longVarint();
    if (first % 2 === 0) {
      steps[at + 1] += unzigzag(first / 2);
      for (let i = 2; i < 4; i++) steps[at + i] += reader.zigzag();
    } else {
      steps[at] = (first - 1) / 2;
      if (steps[at] > 3) throw new RangeError("a rotation has four components");
      for (let i = 1; i < 4; i++) steps[at + i] = reader.zigzag();
    }
    let left = 1;
    for (let i = 0, k = at + 1; i < 4; i++) {
      if (i === steps[at]) continue;
      const c = steps[k++] * unit;
      array[at + i] = c;
      left -= c * c;
    }
    array[at + steps[at]] = Math.sqrt(Math.max(left, 0));
  }
}

/** A column of doubles. `steps`: how profiles view and sim change it. */
function doubles(name, width, steps) {
  return {
    name,
    width,
    steps,
    make: (capacity) => new Float64Array(capacity * width),
    exact(reader, array, slots) {
      const { view } = reader;
      let { at } = reader;
      for (const slot of slots)
        for (let i = slot * width; i < (slot + 1) * width; i++, at += 8) array[i] = view.getFloat64(at, true);
      reader.at = at;
    },
    plain(row, at, array, slot) {
      for (let i = 0; i < width; i++) array[slot * width + i] = row[at + i];
      return at + width;
    },
  };
}

const STATUS = {
  name: "status",
  width: 2,
  make: (capacity) => new Uint8Array(capacity * 2),
  exact(reader, array, slots) {
    for (const slot of slots) {
      array[slot * 2] = reader.u8();
      array[slot * 2 + 1] = reader.u8();
    }
  },
  plain(row, at, array, slot) {
    array[slot * 2] = row[at];
    array[slot * 2 + 1] = row[at + 1];
    return at + 2;
  },
};

const OWNER = {
  name: "owner",
  width: 2,
  make: (capacity) => new Float64Array(capacity * 2),
  exact(reader, array, slots) {
    for (const slot of slots) {
      array[slot * 2] = reader.u32();
      array[slot * 2 + 1] = reader.i64();
    }
  },
  plain: STATUS.plain,
};

/** What a body is made of: [{shape, position, rotation}], shape being its name in hex. */
const SHAPES = {
  name: "shapes",
  width: 1,
  make: (capacity) => new Array(capacity).fill(null),
  exact(reader, array, slots) {
    const three = () => [reader.f64(), reader.f64(), reader.f64()];
    for (const slot of slots)
      array[slot] = Array.from({ length: reader.u8() }, () => ({
        shape: reader.hex(NAME_BYTES),
        position: three(),
        rotation: [reader.f64(), ...three()],
      }));
  },
  plain(row, at, array, slot) {
    array[slot] = row[at].map(([name, ...pose]) => ({
      shape: hex(name),
      position: pose.slice(0, 3),
      rotation: pose.slice(3, 7),
    }));
    return at + 1;
  },
};

/** In the order of bits. `exact` reads values of many bodies, `plain` one row's, `steps` changes of many. */
export const COLUMNS = [
  doubles("position", 3, stepsOf("position")), doubles("rotation", 4, rotationSteps),
  doubles("velocity", 3, stepsOf("velocity")), doubles("spin", 3, stepsOf("spin")), STATUS, OWNER, SHAPES,
].map((column) => ({ ...column, bit: COLUMN[column.name] }));
