/**
 * Hashes of mirrors (docs/PROTOCOL.md, "hashes"): computed as the server computes them, so that a client can check its
 * mirror. The sum over bodies does not depend on their order. XXH3-64 with seed 0 is implemented here for all lengths with
 * BigInt. It takes about 10 µs per body: fast enough for tests and occasional checks, too slow for every frame.
 */
import { PROFILE } from "./mirror.js";

const SECRET = Uint8Array.from((
  "b8fe6c3923a44bbe7c01812cf721ad1cded46de9839097db7240a4a4b7b3671fcb79e64eccc0e578825ad07dccff7221" +
  "b8084674f743248ee03590e6813a264c3c2852bb91c300cb88d0658b1b532ea371644897a20df94e3819ef46a9deacd8" +
  "a8fa763fe39c343ff9dcbbc7c70b4f1d8a51e04bcdb45931c89f7ec9d9787364eac5ac8334d3ebc3c581a0fffa1363eb" +
  "170ddd51b7f0da49d316552629d4689e2b16be587d47a1fc8ff8b8d17ad031ce45cb3a8f95160428afd7fbcabb4b407e"
).match(/../g), (pair) => parseInt(pair, 16));
const KEYS = new DataView(SECRET.buffer);

const P32_1 = 0x9e3779b1n, P32_2 = 0x85ebca77n, P32_3 = 0xc2b2ae3dn;
const P64_1 = 0x9e3779b185ebca87n, P64_2 = 0xc2b2ae3d27d4eb4fn, P64_3 = 0x165667b19e3779f9n;
const P64_4 = 0x85ebca77c2b2ae63n, P64_5 = 0x27d4eb2f165667c5n;
const MIX_1 = 0x165667919e3779f9n, MIX_2 = 0x9fb21c651e98df25n;
const LOW = 0xffffffffn;

const wrap = (value) => BigInt.asUintN(64, value);
const key = (at) => KEYS.getBigUint64(at, true);
const rotate = (value, by) => wrap(value << by) | (value >> (64n - by));

/** The 128-bit product of two 64-bit numbers, its halves combined by XOR. */
function fold(a, b) {
  const product = a * b;
  return wrap(product) ^ (product >> 64n);
}

function avalanche(value) {
  value = wrap((value ^ (value >> 37n)) * MIX_1);
  return value ^ (value >> 32n);
}

/** The final mix of XXH64, which XXH3 uses for inputs of at most 3 bytes. */
function avalancheShort(value) {
  value = wrap((value ^ (value >> 33n)) * P64_2);
  value = wrap((value ^ (value >> 29n)) * P64_3);
  return value ^ (value >> 32n);
}

function swapped(value) {
  const view = new DataView(new ArrayBuffer(8));
  view.setBigUint64(0, value, true);
  return view.getBigUint64(0, false);
}

/** 0 to 16 bytes. */
function short(view, length) {
  const size = BigInt(length);
  if (length === 0) return avalancheShort(key(56) ^ key(64));
  if (length <= 3) {
    const first = view.getUint8(0), middle = view.getUint8(length >> 1), last = view.getUint8(length - 1);
    const word = (BigInt(first) << 16n) | (BigInt(middle) << 24n) | BigInt(last) | (size << 8n);
    return avalancheShort(word ^ BigInt((KEYS.getUint32(0, true) ^ KEYS.getUint32(4, true)) >>> 0));
  }
  if (length <= 8) {
    let word = BigInt(view.getUint32(length - 4, true)) | (BigInt(view.getUint32(0, true)) << 32n);
    word ^= key(8) ^ key(16);
    word ^= rotate(word, 49n) ^ rotate(word, 24n);
    word = wrap(word * MIX_2);
    word = wrap((word ^ ((word >> 35n) + size)) * MIX_2);
    return word ^ (word >> 28n);
  }
  const low = view.getBigUint64(0, true) ^ key(24) ^ key(32);
  const high = view.getBigUint64(length - 8, true) ^ key(40) ^ key(48);
  return avalanche(wrap(size + swapped(low) + high + fold(low, high)));
}

/** Mixes 16 bytes from `at` with 16 bytes of the secret. */
function mix(view, at, secret) {
  return fold(view.getBigUint64(at, true) ^ key(secret), view.getBigUint64(at + 8, true) ^ key(secret + 8));
}

/** 17 to 240 bytes: up to 128 as pairs of 16 bytes from both ends, above that in order. */
function middle(view, length) {
  let sum = BigInt(length) * P64_1;
  if (length <= 128) {
    for (let i = (length - 1) >> 5; i >= 0; i--)
      sum += mix(view, 16 * i, 32 * i) + mix(view, length - 16 * (i + 1), 32 * i + 16);
    return avalanche(wrap(sum));
  }
  for (let i = 0; i < 8; i++) sum += mix(view, 16 * i, 16 * i);
  sum = avalanche(wrap(sum));
  for (let i = 8; i < length >> 4; i++) sum += mix(view, 16 * i, 16 * (i - 8) + 3);
  return avalanche(wrap(sum + mix(view, length - 16, 119)));
}

/** Adds one stripe of 64 bytes to the eight sums. */
function stripe(sums, view, at, secret) {
  for (let i = 0; i < 8; i++) {
    const value = view.getBigUint64(at + 8 * i, true), mixed = value ^ key(secret + 8 * i);
    sums[i ^ 1] += value;
    sums[i] += (mixed & LOW) * (mixed >> 32n);
  }
}

/** More than 240 bytes: blocks of 16 stripes; the secret advances by 8 bytes per stripe, and the sums are scrambled after a block. */
function long(view, length) {
  const sums = BigUint64Array.of(P32_3, P64_1, P64_2, P64_3, P64_4, P32_2, P64_5, P32_1);
  const stripes = Math.floor((length - 1) / 64);
  for (let n = 0; n < stripes; n++) {
    stripe(sums, view, 64 * n, 8 * (n % 16));
    if (n % 16 === 15 && 64 * (n + 1) < length)
      for (let i = 0; i < 8; i++) sums[i] = (sums[i] ^ (sums[i] >> 47n) ^ key(128 + 8 * i)) * P32_1;
  }
  stripe(sums, view, length - 64, 121);
  let result = BigInt(length) * P64_1;
  for (let i = 0; i < 4; i++) result += fold(sums[2 * i] ^ key(11 + 16 * i), sums[2 * i + 1] ^ key(19 + 16 * i));
  return avalanche(wrap(result));
}

/** XXH3-64 with seed 0 of the first `length` bytes of a DataView. @returns {bigint} */
export function xxh3(view, length = view.byteLength) {
  if (length <= 16) return short(view, length);
  return length <= 240 ? middle(view, length) : long(view, length);
}

/** Appends little-endian values to a buffer that grows. */
class Writer {
  at = 0;
  view = new DataView(new ArrayBuffer(1024));

  #reserve(bytes) {
    if (this.at + bytes > this.view.byteLength) {
      const wider = new Uint8Array((this.at + bytes) * 2);
      wider.set(new Uint8Array(this.view.buffer));
      this.view = new DataView(wider.buffer);
    }
    this.at += bytes;
    return this.at - bytes;
  }

  u8(value) { this.view.setUint8(this.#reserve(1), value); }
  i16(value) { this.view.setInt16(this.#reserve(2), value, true); }
  u32(value) { this.view.setUint32(this.#reserve(4), value, true); }
  i32(value) { this.view.setInt32(this.#reserve(4), value, true); }
  i64(value) { this.view.setBigInt64(this.#reserve(8), BigInt(value), true); }
  f32(value) { this.view.setFloat32(this.#reserve(4), value, true); }
  f64(value) { this.view.setFloat64(this.#reserve(8), value, true); }
  varint(value) {
    for (; value >= 0x80; value = Math.floor(value / 128)) this.u8(value % 128 + 128);
    this.u8(value);
  }
  bytes(bytes) { for (const byte of bytes) this.u8(byte); }
  hex(text) { for (let i = 0; i < text.length; i += 2) this.u8(parseInt(text.slice(i, i + 2), 16)); }
}

/** Writes a column of a body in profiles view and sim: its whole steps. */
function writeSteps(out, name, steps, at) {
  if (name === "rotation") out.u8(steps[at]);
  for (let i = 0; i < 3; i++)
    if (name === "position") out.i64(steps[at + i]);
    else if (name === "rotation") out.i16(steps[at + 1 + i]);
    else out.i32(steps[at + i]);
}

function writeColumn(out, { name, width }, array, slot) {
  if (name === "status") {
    out.u8(array[slot * 2]);
    out.u8(array[slot * 2 + 1]);
  } else if (name === "owner") {
    out.u32(array[slot * 2]);
    out.i64(array[slot * 2 + 1]);
  } else if (name === "shapes") {
    out.u8(array[slot].length);
    for (const { shape, position, rotation } of array[slot]) {
      out.hex(shape);
      for (const real of [...position, ...rotation]) out.f64(real);
    }
  } else if (name === "contacts") {
    out.varint(array[slot].length);
    for (const { other, child, otherChild, point, normal, separation, impulse, friction } of array[slot]) {
      for (const id of [other, child, otherChild]) out.u32(id);
      for (const real of [...point, ...normal, separation, impulse, ...friction]) out.f64(real);
    }
  } else {
    for (let i = slot * width; i < (slot + 1) * width; i++) out.f64(array[i]);
  }
}

/** Writes the bytes of a body that the world's tick hash covers. */
function writeBody(out, mirror, slot) {
  out.u8(mirror.status[slot * 2]);
  for (const [name, width] of [["position", 3], ["rotation", 4], ["velocity", 3], ["spin", 3]])
    for (let i = slot * width; i < (slot + 1) * width; i++) out.f64(mirror[name][i]);
}

function sumUp(mirror, write) {
  const out = new Writer();
  let sum = 0n;
  for (const [id, slot] of mirror.slots) {
    out.at = 0;
    out.u32(id);
    write(out, slot);
    sum += xxh3(out.view, out.at);
  }
  return finish(mirror.tick, sum, mirror.count);
}

function finish(tick, sum, count) {
  const view = new DataView(new ArrayBuffer(20));
  view.setBigUint64(0, BigInt(tick), true);
  view.setBigUint64(8, wrap(sum), true);
  view.setUint32(16, count, true);
  return xxh3(view);
}

/** The hash of a mirror's joints. @returns {bigint} */
export function jointsHash({ tick, joints }) {
  const out = new Writer();
  let sum = 0n;
  for (const joint of joints.items.values()) {
    out.at = 0;
    out.u32(joint.id);
    joints.write(out, joint);
    sum += xxh3(out.view, out.at);
  }
  return finish(tick, sum, joints.items.size);
}

/** The hash of a mirror's particles. @returns {bigint} */
export function particlesHash({ tick, particles }) {
  const out = new Writer();
  let sum = 0n;
  for (let i = 0; i < particles.count; i++) {
    out.at = 0;
    particles.write(out, i);
    sum += xxh3(out.view, out.at);
  }
  return finish(tick, sum, particles.count);
}

/**
 * The world's tick hash, from a mirror of the whole world in profile plain or exact with at least the columns of mask 31.
 * @returns {bigint}
 */
export function tickHash(mirror) {
  return sumUp(mirror, (out, slot) => writeBody(out, mirror, slot));
}

/** The hash of a mirror's bodies, in its profile and with its columns. @returns {bigint} */
export function viewHash(mirror) {
  const quantised = mirror.profile === PROFILE.view || mirror.profile === PROFILE.sim;
  return sumUp(mirror, (out, slot) => {
    for (const column of mirror.columns) {
      if (quantised && column.short) out.bytes(mirror.packed[slot]);
      else if (quantised && column.steps) writeSteps(out, column.name, mirror.steps[column.name], slot * 4);
      else writeColumn(out, column, mirror[column.name], slot);
    }
  });
}

/**
 * Whether a mirror has the hash that the server sent with its last frame; null if that frame carried none. If the hashes
 * differ, call World.resync.
 */
export function isRight(mirror) {
  if (mirror.hash === null) return null;
  const numberOf = (hash) => new DataView(hash.buffer, hash.byteOffset, hash.byteLength).getBigUint64(0);
  return numberOf(mirror.hash) === (mirror.hashOfTick ? tickHash(mirror) : viewHash(mirror)) &&
    (mirror.joints.hash === null || numberOf(mirror.joints.hash) === jointsHash(mirror)) &&
    (mirror.particles.hash === null || numberOf(mirror.particles.hash) === particlesHash(mirror));
}
