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

  /** A count and that many ids, ascending, as gaps. */
  ids() {
    const count = this.varint();
    if (count > this.bytes.length) throw new RangeError("more ids than bytes");
    const ids = new Uint32Array(count);
    let id = 0;
    for (let i = 0; i < count; i++) ids[i] = id += this.varint() + 1;
    return ids;
  }

  hex(count) {
    if (this.at + count > this.bytes.length) throw new RangeError("the bytes end early");
    let text = "";
    for (let i = 0; i < count; i++) text += this.bytes[this.at++].toString(16).padStart(2, "0");
    return text;
  }
}

function hex(bytes) {
  return new Reader(bytes).hex(bytes.length);
}

function doubles(name, width) {
  return {
    name,
    width,
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

/** In the order of bits. `exact` reads values of many bodies, `plain` one row's. */
export const COLUMNS = [
  doubles("position", 3), doubles("rotation", 4), doubles("velocity", 3), doubles("spin", 3), STATUS, OWNER, SHAPES,
].map((column) => ({ ...column, bit: COLUMN[column.name] }));
