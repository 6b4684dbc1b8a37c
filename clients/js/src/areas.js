/**
 * Parts of a world to watch, for World.subscribe({areas: [ball([0, 0, 0], 20), box([0, 0, 0], [9, 9, 9], 7)]}) and
 * World.focus. Lengths in metres, world axes. With `body` (an id; 0: none) positions are relative to the position of that
 * body: the area moves with the body and does not turn with it. A number that is not finite is thrown as BadNumber.
 */
import { checkFinite } from "./numbers.js";

/** The numbers of the fields, one after the other. */
function numbersOf(fields) {
  return Object.entries(fields).flatMap(([field, value]) => {
    const numbers = typeof value === "number" ? [value] : [...value];
    for (const number of numbers) checkFinite(field, number);
    return numbers;
  });
}

/** The whole world. */
export const everything = () => [0, [], 0];

/** An axis-aligned box from `minimum` [x, y, z] to `maximum` [x, y, z]. */
export const box = (minimum, maximum, body = 0) => [1, numbersOf({ minimum, maximum }), body];

/** A sphere: centre [x, y, z] and radius. */
export const ball = (centre, radius, body = 0) => [2, numbersOf({ centre, radius }), body];

/**
 * A camera's view volume between the distances `near` and `far`: it looks along −z of the rotation [w, x, y, z], +y up.
 * halfWidth and halfHeight are measured at distance 1: tan(f / 2) × aspect and tan(f / 2) for the vertical field of view f.
 */
export const frustum = (eye, rotation, halfWidth, halfHeight, near, far, body = 0) =>
  [3, numbersOf({ eye, rotation, halfWidth, halfHeight, near, far }), body];
