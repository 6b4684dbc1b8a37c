/**
 * A subscription's joints, updated by ROWS (docs/PROTOCOL.md, "joints"), as objects by id. A joint that changes becomes a new
 * object, so an object that the caller stored does not change.
 */
import { Reader } from "./columns.js";
import { JOINT_COLUMN, WORDS } from "./manifest.js";
import { Closed } from "./wire.js";

/** Types by number, and words for the settings of an axis (command joint_axis). */
export const JOINT_TYPES = WORDS.joint_type;
export const JOINT_MODES = WORDS.joint_mode;
export const JOINT_SPRINGS = WORDS.joint_spring;
export const JOINT_MOTORS = WORDS.joint_motor;
export const JOINT_WAVES = WORDS.joint_wave;
/** All columns of joints. */
export const ALL_JOINTS = Object.values(JOINT_COLUMN).reduce((sum, bit) => sum + bit, 0);

/** Bit of a frame's `flags`: ROWS follow. WHOLE is a bit of the flags of ROWS: part 0 empties the set. */
export const ROWS = 4;
const WHOLE = 8;
const KIND = 1;
const PASS = 1, ASLEEP = 2;

const reals = (count) => Array(count).fill("real");

/** In the order of bits. `layout`: types of the numbers; `set` stores them in a joint; `get` returns them, for hashes. */
const COLUMNS = [
  {
    name: "bodies",
    layout: ["u8", "u8", "u32", "u32"],
    set(joint, [type, flags, a, b]) {
      Object.assign(joint, { type: JOINT_TYPES[type] ?? type, passes: (flags & PASS) !== 0, asleep: (flags & ASLEEP) !== 0,
        a, b });
    },
    get: ({ type, passes, asleep, a, b }) =>
      [typeof type === "number" ? type : JOINT_TYPES.indexOf(type), passes * PASS + asleep * ASLEEP, a, b],
  },
  {
    name: "frames",
    layout: reals(14),
    set(joint, v) {
      Object.assign(joint, { pointA: v.slice(0, 3), frameA: v.slice(3, 7), pointB: v.slice(7, 10), frameB: v.slice(10, 14) });
    },
    get: ({ pointA, frameA, pointB, frameB }) => [...pointA, ...frameA, ...pointB, ...frameB],
  },
  {
    name: "coordinates",
    layout: reals(6),
    set(joint, v) { joint.coordinates = v; },
    get: ({ coordinates }) => coordinates,
  },
  {
    name: "force",
    layout: reals(6),
    set(joint, v) { Object.assign(joint, { force: v.slice(0, 3), torque: v.slice(3, 6) }); },
    get: ({ force, torque }) => [...force, ...torque],
  },
  {
    name: "owner",
    layout: ["u32", "i64"],
    set(joint, [owner, tag]) { Object.assign(joint, { owner, tag }); },
    get: ({ owner, tag }) => [owner, tag],
  },
  {
    name: "break",
    layout: reals(2),
    set(joint, [breakForce, breakTorque]) { Object.assign(joint, { breakForce, breakTorque }); },
    get: ({ breakForce, breakTorque }) => [breakForce, breakTorque],
  },
].map((column) => ({ ...column, bit: JOINT_COLUMN[column.name] }));

/** A mask of columns from a mask, from names of columns, or from true (all). @throws {TypeError} for an unknown name */
export function jointMask(columns) {
  if (columns === true) return ALL_JOINTS;
  if (typeof columns === "number") return columns;
  return columns.reduce((mask, name) => {
    if (JOINT_COLUMN[name] === undefined) throw new TypeError(`there is no column ${name} of joints`);
    return mask | JOINT_COLUMN[name];
  }, 0);
}

export class Joints {
  /** Joints by id: {id, type, passes, asleep, a, b, pointA, frameA, …}, with the fields of the subscribed columns. */
  items = new Map();
  /** The server's hash of the last ROWS, 8 bytes, or null (hash.js). */
  hash = null;
  /** Ids that the last frame changed (new ones included) and removed. */
  changed = [];
  removed = [];

  /** @param {number} columns sum of bits of JOINT_COLUMN @param {"plain" | "exact" | "short"} form encoding of rows */
  constructor(columns, form) {
    this.mask = columns;
    this.form = form;
    this.columns = COLUMNS.filter(({ bit }) => columns & bit);
  }

  empty() {
    this.items.clear();
    this.begin();
  }

  /** Prepares for the next frame. */
  begin() {
    this.changed = [];
    this.removed = [];
    this.hash = null;
  }

  /** Applies one part of ROWS. @throws {Closed} if it does not fit the joints here */
  take({ kind, part, removed, columns, hash, flags = 0 }) {
    if (kind !== KIND || this.mask === 0) throw new Closed(`rows of kind ${kind}, not subscribed`, "malformed");
    if (part === 0 && (flags & WHOLE) !== 0) this.items.clear();
    const gone = this.form === "plain" ? removed ?? [] : removed ? new Reader(removed).ids() : [];
    for (const id of gone) {
      if (!this.items.delete(id)) throw new Closed(`rows remove joint ${id}, which the mirror does not have`, "corrupt");
      this.removed.push(id);
    }
    if (this.form === "plain") for (const row of columns) this.#takeRow(row);
    else if (columns) this.#takeRows(new Reader(columns));
    this.hash = hash?.slice() ?? null;
  }

  /** The joint that a row changes, as a new object. */
  #of(id, mask) {
    const old = this.items.get(id);
    if (old === undefined && mask !== this.mask) throw new Closed(`a row changes joint ${id}, which the mirror does not have`, "corrupt");
    const joint = { ...old, id };
    this.items.set(id, joint);
    this.changed.push(id);
    return joint;
  }

  #takeRow(row) {
    const joint = this.#of(row[0], this.mask);
    let at = 1;
    for (const { layout, set } of this.columns) set(joint, row.slice(at, at += layout.length));
  }

  #takeRows(reader) {
    const ids = reader.ids(), masks = Array.from(ids, () => reader.mask());
    if (masks.some((mask) => mask === 0 || (mask & ~this.mask) !== 0)) throw new RangeError("a row has columns not subscribed");
    const joints = Array.from(ids, (id, i) => this.#of(id, masks[i]));
    const real = this.form === "exact" ? "f64" : "f32";
    for (const { bit, layout, set } of this.columns)
      joints.forEach((joint, i) => {
        if (masks[i] & bit) set(joint, layout.map((type) => reader[type === "real" ? real : type]()));
      });
    if (reader.at !== reader.bytes.length) throw new RangeError("rows have bytes after their end");
  }

  /** Writes the bytes of a joint that the hash of joints covers. */
  write(out, joint) {
    const real = this.form === "short" ? "f32" : "f64";
    for (const { layout, get } of this.columns) {
      const values = get(joint);
      layout.forEach((type, i) => out[type === "real" ? real : type](values[i]));
    }
  }
}

const stateOf = (type, flags) => ({ type: JOINT_TYPES[type] ?? type, passes: (flags & PASS) !== 0,
  asleep: (flags & ASLEEP) !== 0 });

/** An item of the answer to QUERY joints. */
export function jointItemOf([id, type, flags, a, b, coordinates, force, torque, anchorA, anchorB, owner, tag]) {
  return { id, ...stateOf(type, flags), a, b, coordinates, force, torque, anchorA, anchorB, owner, tag };
}

function axisOf([mode, lower, upper, restitution, friction, spring, stiffness, damping, rest, springLimit, motor, target,
  motorLimit, wave, amplitude, hertz, phase, motorStiffness, motorDamping]) {
  return {
    mode: JOINT_MODES[mode] ?? mode, lower, upper, restitution, friction, spring: JOINT_SPRINGS[spring] ?? spring, stiffness,
    damping, rest, springLimit, motor: JOINT_MOTORS[motor] ?? motor, target, motorLimit, wave: JOINT_WAVES[wave] ?? wave,
    amplitude, hertz, phase, motorStiffness, motorDamping,
  };
}

/** The gear of an axis that follows another one, else null; `force` is that along the axis. */
const gearOf = ([leader, leaderAxis, ratio, offset, force]) => (leader ? { leader, leaderAxis, ratio, offset, force } : null);

/** The rotor of an axis with armature (kg m², of an axis along kg), else null; `force` is that along the axis. */
const rotorOf = ([armature, force]) => (armature > 0 ? { armature, force } : null);

/** The answer to QUERY joint. */
export function jointOf([id, type, flags, a, b, owner, tag, pointA, frameA, pointB, frameB, coordinates, force, torque,
  anchorA, anchorB, [breakForce, breakTorque], axes]) {
  return {
    id, ...stateOf(type, flags), a, b, owner, tag, pointA, frameA, pointB, frameB, coordinates, force, torque, anchorA,
    anchorB, breakForce, breakTorque, axes: axes.map(axisOf),
    gears: axes.map((axis) => gearOf(axis.slice(19))), rotors: axes.map((axis) => rotorOf(axis.slice(24))),
  };
}
