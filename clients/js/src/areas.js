/**
 * Parts of a world to watch, for World.subscribe({areas: [ball([0, 0, 0], 20), box([0, 0, 0], [9, 9, 9], 7)]}) and
 * World.focus. Lengths in metres, world axes. With `body` (an id) positions are relative to where that body is, and the
 * area goes with it without turning.
 */

/** The whole world. */
export const everything = () => [0, [], 0];

/** From corner to corner: [x, y, z], [x, y, z]. */
export const box = (minimum, maximum, body = 0) => [1, [...minimum, ...maximum], body];

/** A sphere. */
export const ball = (centre, radius, body = 0) => [2, [...centre, radius], body];

/**
 * Looks along −z of the rotation [w, x, y, z], +y up. halfWidth and halfHeight are those at distance 1: of a camera with
 * the vertical field of view f, tan(f / 2) × aspect and tan(f / 2).
 */
export const frustum = (eye, rotation, halfWidth, halfHeight, near, far, body = 0) =>
  [3, [...eye, ...rotation, halfWidth, halfHeight, near, far], body];
