/**
 * Columns of a mirror: the properties of bodies, by bit of SUBSCRIBE.fields, as flat arrays indexed by slot
 * (docs/PROTOCOL.md, "state").
 */
import { COLUMN } from "./manifest.js";

const NAME_BYTES = 32;

/** Rows of a block. The arrays are reused from frame to frame, so that a frame allocates nothing. */
export class Rows {
  count = 0;
  ids = new Uint32Array(0);
  masks = new Uint16Array(0);
  slots = new Uint32Array(0);
  #here = new Uint32Array(0);

  /** Sets the number of rows and allocates arrays for them; their contents are undefined. */
  fit(count) {
    this.count = count;
    if (this.ids.length >= count) return;
    const room = count * 2;
    this.ids = new Uint32Array(room);
    this.masks = new Uint16Array(room);
    this.slots = new Uint32Array(room);
    this.#here = new Uint32Array(room);
  }

  /** Slots of the rows whose mask has the bit, in order; valid until the next call. */
  having(bit) {
    const { masks, slots, count } = this, here = this.#here;
    let found = 0;
    for (let i = 0; i < count; i++) if (masks[i] & bit) here[found++] = slots[i];
    return here.subarray(0, found);
  }
}

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

  f32() {
    const value = this.view.getFloat32(this.at, true);
    this.at += 4;
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

  /** An unsigned integer of at most 32 bits: seven bits per byte, low bits first. */
  varint() {
    let value = 0;
    for (let shift = 0; shift < 35; shift += 7) {
      const byte = this.u8();
      value += (byte & 0x7f) * 2 ** shift;
      if (byte < 0x80) return value;
    }
    throw new RangeError("malformed frame: a variable-length integer has more than 32 bits");
  }

  /** A varint of at most 8 bytes. Its values are exact as numbers, because the wire keeps them below 2^53. */
  longVarint() {
    // Most changes take one byte.
    if (this.bytes[this.at] < 0x80) return this.bytes[this.at++];
    let value = 0;
    for (let i = 0, unit = 1; i < 8; i++, unit *= 128) {
      const byte = this.u8();
      value += (byte & 0x7f) * unit;
      if (byte < 0x80) return value;
    }
    throw new RangeError("malformed frame: a variable-length integer has more than 8 bytes");
  }

  zigzag() { return unzigzag(this.longVarint()); }

  /** A count and that many ids, ascending, each encoded as the gap to the one before. */
  ids() {
    const ids = new Uint32Array(this.#count());
    for (let i = 0, id = 0; i < ids.length; i++) ids[i] = id += this.varint() + 1;
    return ids;
  }

  #count() {
    const count = this.varint();
    if (count > this.bytes.length - this.at) throw new RangeError(`a count of ${count} is larger than the rest of the block`);
    return count;
  }

  /** One byte with bits 0 to 6; its high bit says that a second byte follows with bits from 8 on. */
  mask() {
    const low = this.u8();
    return low < 0x80 ? low : low & 0x7f | this.u8() << 8;
  }

  /** Reads ids and masks of a block into `rows`: as runs in profiles view and sim, one by one in profile exact. */
  rows(inRuns, rows) {
    const count = this.#count();
    rows.fit(count);
    const { ids, masks } = rows;
    if (!inRuns) {
      for (let i = 0, id = 0; i < count; i++) ids[i] = id += this.varint() + 1;
      for (let i = 0; i < count; i++) masks[i] = this.mask();
      return;
    }
    for (let row = 0, id = 0; row < count;) {
      const head = this.longVarint(), length = head % 2 ? this.varint() + 2 : 1, mask = this.mask();
      if (length > count - row) throw new RangeError("a run extends beyond the last row");
      id += Math.floor(head / 2);
      for (const end = row + length; row < end; row++) {
        ids[row] = ++id;
        masks[row] = mask;
      }
    }
  }

  hex(count) {
    if (this.at + count > this.bytes.length) throw new RangeError("a block is cut short");
    let text = "";
    for (let i = 0; i < count; i++) text += this.bytes[this.at++].toString(16).padStart(2, "0");
    return text;
  }
}

function unzigzag(u) { return u % 2 === 0 ? u / 2 : -(u + 1) / 2; }

export function hex(bytes) {
  return new Reader(bytes).hex(bytes.length);
}

const ROOT_HALF = Math.SQRT1_2;
/** Profiles view (2) and sim (3): steps per metre, per 1 m/s or 1 rad/s, and the largest integer of a rotation's component. */
const SCALE = { 2: { position: 512, velocity: 128, spin: 128, rotation: 255 },
  3: { position: 4096, velocity: 1024, spin: 1024, rotation: 16383 } };

/**
 * Reads the changes of a column of three numbers, in whole steps. Changes of one or two bytes, which are most, are decoded inline:
 * a call for each of 60,000 numbers in a frame would take half of the frame's time.
 */
function stepsOf(name) {
  return (reader, profile, steps, array, slots) => {
    const step = 1 / SCALE[profile][name], { bytes } = reader;
    let { at } = reader;
    for (let n = 0; n < slots.length; n++) {
      const slot = slots[n];
      for (let i = slot * 4, k = slot * 3, end = i + 3; i < end; i++, k++) {
        const low = bytes[at], high = bytes[at + 1];
        let change;
        if (low < 0x80) {
          change = (low >>> 1) ^ -(low & 1);
          at++;
        } else if (high < 0x80) {
          const both = (low & 0x7f) | (high << 7);
          change = (both >>> 1) ^ -(both & 1);
          at += 2;
        } else {
          reader.at = at;
          change = reader.zigzag();
          at = reader.at;
        }
        array[k] = (steps[i] += change) * step;
      }
    }
    reader.at = at;
  };
}

/** Reads changes of rotations: steps[4 slot] is the index of the omitted, largest component; the other three follow. */
function rotationSteps(reader, profile, steps, array, slots) {
  const unit = ROOT_HALF / SCALE[profile].rotation;
  for (let n = 0; n < slots.length; n++) {
    const at = slots[n] * 4, first = reader.longVarint();
    if (first % 2 === 0) {
      steps[at + 1] += unzigzag(first / 2);
      steps[at + 2] += reader.zigzag();
      steps[at + 3] += reader.zigzag();
    } else {
      steps[at] = (first - 1) / 2;
      if (steps[at] > 3) throw new RangeError(`rotation component ${steps[at]} is not in 0 ... 3`);
      for (let i = 1; i < 4; i++) steps[at + i] = reader.zigzag();
    }
    const largest = steps[at];
    let left = 1;
    for (let i = 0, k = at + 1; i < 4; i++) {
      if (i === largest) continue;
      const c = steps[k++] * unit;
      array[at + i] = c;
      left -= c * c;
    }
    array[at + largest] = left > 0 ? Math.sqrt(left) : 0;
  }
}

/** A column of doubles. `steps` reads its changes in profiles view and sim. */
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

/** The shapes of a body: [{shape, position, rotation}], `shape` being the name in hex. */
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

/** A float32; profile view sends only its upper 16 bits. */
function impulse(reader, profile) {
  const half = profile === 2, value = reader.view.getUint8(reader.at) | reader.view.getUint8(reader.at + 1) << 8;
  FLOAT.setUint32(0, half ? value << 16 >>> 0 : reader.view.getUint32(reader.at, true));
  reader.at += half ? 2 : 4;
  return FLOAT.getFloat32(0);
}
const FLOAT = new DataView(new ArrayBuffer(4));

/** A body's contacts in view or sim, each encoded as a difference to the one before. */
function shortContacts(reader, profile) {
  const scale = SCALE[profile].position, steps = [0, 0, 0];
  let other = 0, child = 0, otherChild = 0, normal = [0, 0, 0];
  return Array.from({ length: reader.varint() }, () => {
    const head = reader.u8();
    if (head & 1) {
      other += reader.varint();
      child = otherChild = 0;
    }
    if (head & 2) {
      child = reader.varint();
      otherChild = reader.varint();
    }
    if (head & 4) {
      const three = [0, 0, 0].map(() => {
        if (profile === 2) return reader.view.getInt8(reader.at++);
        reader.at += 2;
        return reader.view.getInt16(reader.at - 2, true);
      });
      const length = Math.sqrt(three[0] * three[0] + three[1] * three[1] + three[2] * three[2]);
      normal = three.map((c) => (length > 0 ? c / length : 0));
    }
    const point = steps.map((_, i) => (steps[i] += reader.zigzag()) / scale);
    return { other, child, otherChild, point, normal, separation: reader.zigzag() / scale,
      impulse: impulse(reader, profile),
      friction: [0, 0, 0].map(() => (head & 8 ? impulse(reader, profile) : 0)) };
  });
}

/** The contact points of a body: [{other, child, otherChild, point, normal, separation, impulse, friction}]. */
const CONTACTS = {
  name: "contacts",
  width: 1,
  make: (capacity) => new Array(capacity).fill(null),
  exact(reader, array, slots) {
    const three = () => [reader.f64(), reader.f64(), reader.f64()];
    for (const slot of slots)
      array[slot] = Array.from({ length: reader.varint() }, () => ({
        other: reader.u32(), child: reader.u32(), otherChild: reader.u32(), point: three(), normal: three(),
        separation: reader.f64(), impulse: reader.f64(), friction: three(),
      }));
  },
  short(reader, profile, packed, array, slots) {
    for (const slot of slots) {
      const from = reader.at;
      array[slot] = shortContacts(reader, profile);
      packed[slot] = reader.bytes.slice(from, reader.at);
    }
  },
  plain(row, at, array, slot) {
    array[slot] = row[at].map(([other, child, otherChild, ...n]) => ({
      other, child, otherChild, point: n.slice(0, 3), normal: n.slice(3, 6), separation: n[6], impulse: n[7],
      friction: n.slice(8, 11),
    }));
    return at + 1;
  },
};

/**
 * The columns in the order of their bits. `exact` reads values of many bodies, `steps` their changes in profiles view and sim,
 * `plain` the values of one row. `short` reads lists in profiles view and sim and keeps their bytes for hashes.
 */
export const COLUMNS = [
  doubles("position", 3, stepsOf("position")), doubles("rotation", 4, rotationSteps),
  doubles("velocity", 3, stepsOf("velocity")), doubles("spin", 3, stepsOf("spin")), STATUS, OWNER, SHAPES, CONTACTS,
].map((column) => ({ ...column, bit: COLUMN[column.name] }));
