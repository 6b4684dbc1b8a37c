/** Words for numbers of the wire: modes, kinds of events, and commands by name. */
import { COMMAND, WORDED } from "./manifest.js";
import { checkField } from "./numbers.js";
import { Refused } from "./wire.js";

/** WORLD_INFO.mode by number. */
export const MODES = ["running", "paused", "lockstep", "barrier", "failed"];
/** Kinds of events by number; SUBSCRIBE.events is the sum of 2^number. */
export const EVENTS = ["", "contact_begin", "contact_end", "sleep", "wake", "out_of_bounds", "quarantine", "fallback",
  "limit", "joint_break", "births", "deaths", "sensor_begin", "sensor_end", "hit", "squeezed", "link_torn"];
export const ALL_EVENTS = EVENTS.reduce((sum, name, kind) => name ? sum + 2 ** kind : sum, 0);
/** CONTROL.action by name. */
export const CONTROL = { pause: 0, resume: 1, speed: 2, lockstep: 3, barrier: 4 };

/** The number of a word, for a field that has words; other values unchanged. @throws {TypeError} for an unknown word */
function numberOf(name, field, value) {
  const words = WORDED[name]?.[field];
  if (words === undefined || typeof value !== "string") return value;
  const number = value === "" ? -1 : words.indexOf(value);
  if (number < 0)
    throw new TypeError(`${name} has no ${field} "${value}": it is one of ${words.filter(Boolean).join(", ")}`);
  return number;
}

/** In the place of a number, a vector or a rotation of a command: it comes from the action (Client.stepWorlds). */
export const ACTION = Symbol("action");

/** A value with null in each place of an action. */
function placed(value) {
  if (value === ACTION) return null;
  return Array.isArray(value) ? value.map(placed) : value;
}

/** The fields with `friction` as the static and the dynamic friction that are not given themselves, as in scenes. */
function bothFrictions(fields, { friction, ...values }) {
  const has = (name) => fields.some(([field]) => field === name);
  if (friction === undefined || has("friction") || !has("static_friction"))
    return friction === undefined ? values : { ...values, friction };
  const { static_friction = friction, dynamic_friction = friction } = values;
  return { ...values, static_friction, dynamic_friction };
}

/**
 * A command in wire form: command("impulse", {body: 3, impulse: [0, 1, 0]}), command("joint_create", {type: "drag", …}).
 * `friction` sets static_friction and dynamic_friction, unless they are given.
 * @throws {TypeError} for a command, field or word that is not known, or a field that is missing
 * @throws {BadNumber} for a number that is not finite or outside its limits
 */
export function command(name, given) {
  if (COMMAND[name] === undefined) throw new TypeError(`there is no command ${name}`);
  const { number, fields } = COMMAND[name];
  const values = bothFrictions(fields, given);
  for (const key of Object.keys(values))
    if (!fields.some(([field]) => field === key)) throw new TypeError(`${name} has no field ${key}`);
  let last = fields.length;
  while (last > 0 && values[fields[last - 1][0]] === undefined && fields[last - 1][1] !== undefined) last--;
  return [number, ...fields.slice(0, last).map(([field, fallback]) => {
    const value = values[field] ?? fallback;
    if (value === undefined) throw new TypeError(`${name} needs ${field}`);
    const numbered = numberOf(name, field, value);
    checkField(name, field, numbered);
    return placed(numbered);
  })];
}

/** An item of RESULT: {batch, tick, edit, values}. @throws {Refused} if the batch was refused */
export function resultOf([batch, tick, code, index, values, field, text, edit = 0]) {
  if (code !== 0) throw new Refused(code, text ?? "", field ?? "", index);
  return { batch, tick, edit, values };
}

/**
 * An item of EVENTS: {kind, a, b, value, fraction, point, normal, childA, childB, speed}; a child is a piece of the body's
 * shape, speed (m/s) that of a hit.
 */
export function eventOf([
  kind, a = 0, b = 0, value = 0, fraction = 0, point = [0, 0, 0], normal = [0, 0, 0], childA = 0, childB = 0,
  speed = 0,
]) {
  return { kind: EVENTS[kind] ?? String(kind), a, b, value, fraction, point, normal, childA, childB, speed };
}
