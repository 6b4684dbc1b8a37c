/** Checks the numbers of commands and queries, so that a mistake is reported without a round trip. */
import { LENGTH_MAX, LIMITS, QUERY_LIMITS, STATUS } from "./manifest.js";
import { Refused } from "./wire.js";

const codeOf = (status) => Number(Object.keys(STATUS).find((code) => STATUS[code][0] === status));
const LONGEST = 4 * LENGTH_MAX;

/** A number that the server would refuse; it was not sent. `status` is not_finite or range. */
export class BadNumber extends Refused {
  constructor(status, text, field) {
    super(codeOf(status), text, field);
    this.name = "BadNumber";
  }
}

function checkNumber(field, value, least, most, unit = "") {
  // The server refuses what is no number.
  if (typeof value !== "number" || (value >= least && value <= most)) return;
  if (!Number.isFinite(value)) throw new BadNumber("not_finite", `${field} is ${value}: it must be finite`, field);
  throw new BadNumber("range", `${field} is ${value}: it must be from ${least} to ${most}${unit && ` ${unit}`}`, field);
}

function checkEach(field, values, least, most, unit) {
  if (Array.isArray(values)) for (const value of values) checkNumber(field, value, least, most, unit);
}

function checkLength(field, values, least, most, after = "") {
  if (!Array.isArray(values) || !values.every((value) => typeof value === "number")) return;
  if (!values.every(Number.isFinite))
    throw new BadNumber("not_finite", `${field} is [${values.join(", ")}]: its numbers must be finite`, field);
  const length = Math.hypot(...values);
  if (!(length >= least && length <= most))
    throw new BadNumber("range", `${field} has length ${length}: it must be within ${least} and ${most}${after}`, field);
}

const rowsOf = (list) => Array.isArray(list) ? list.filter(Array.isArray) : [];
const checkRotation = (field, value) => checkLength(field, value, 0.5, 2, ", and is then made 1");

/** @throws {BadNumber} if the value is NaN or infinite */
export function checkFinite(field, value) {
  checkNumber(field, value, -Number.MAX_VALUE, Number.MAX_VALUE);
}

/** The check of a field by its type in commands.def. */
const FIELD = {
  VEC3: checkEach,
  QUAT: checkRotation,
  TARGETS: (field, list, ...limits) => rowsOf(list).forEach(([, , value]) => checkNumber(field, value, ...limits)),
  POINTS: (field, list, ...limits) => rowsOf(list).forEach((row) => checkEach(field, row, ...limits)),
  ATTACHMENTS: (field, list, ...limits) => rowsOf(list).forEach(([, position, rotation]) => {
    checkEach(field, position, ...limits);
    checkRotation(field, rotation);
  }),
};

/** @throws {BadNumber} if a number of a command's field is not finite or outside its limits */
export function checkField(command, field, value) {
  const [type, least, most, unit] = LIMITS[command]?.[field] ?? [];
  if (type !== undefined) (FIELD[type] ?? checkNumber)(field, value, least, most, unit);
}

/** The check of a query's field by its type in queries.def. */
const ASKED = {
  PLACE: (field, value) => checkEach(field, value, -LENGTH_MAX, LENGTH_MAX, "m"),
  DIRECTION: (field, value) => checkEach(field, value, -Number.MAX_VALUE, Number.MAX_VALUE),
  WAY: (field, value) => checkLength(field, value, 0, LONGEST, " m"),
  LENGTH: (field, value) => checkNumber(field, value, 0, LONGEST, "m"),
  ROTATION: checkRotation,
  REAL: checkNumber,
  U32: checkNumber,
};

/** @throws {BadNumber} if a number of the query [kind, …] is not finite or outside its limits */
export function checkQuery([kind, ...values]) {
  (QUERY_LIMITS[kind] ?? []).forEach(([field, type, least, most], i) => ASKED[type]?.(field, values[i], least, most));
}
