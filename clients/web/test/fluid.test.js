/** Colours of fluids: shares by speed and depth, and the ramp between them. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { Color } from "three";
import { shadeOf, sharesOf } from "../src/fluid.js";

const PARTICLES = { position: [9, 9, 9, 0, 0, 0, 0, 1, 0, 0, 2, 0], velocity: [9, 9, 9, 0, 0, 0, 0, 3, 4, 99, 0, 0] };

test("the deepest particle has the share 0, the highest 1, in the range that is drawn", () => {
  assert.deepEqual([...sharesOf("depth", PARTICLES, 1, 4)], [0, 0.5, 1]);
});

test("speeds count against a fall over the fluid's height, and end at 1", () => {
  const [still, moving, fast] = sharesOf("speed", PARTICLES, 1, 4);
  assert.equal(still, 0);
  assert.ok(Math.abs(moving - 5 / Math.sqrt(2 * 9.81 * 2)) < 1e-6);
  assert.equal(fast, 1);
  assert.deepEqual([...sharesOf("speed", PARTICLES, 1, 1)], []);
});

test("the ramp goes from dark to white", () => {
  const light = [0, 0.25, 0.5, 0.75, 1].map((share) => shadeOf(share, new Color()).getHSL({}).l);
  for (let i = 1; i < light.length; i++) assert.ok(light[i] > light[i - 1]);
  assert.equal(shadeOf(7, new Color()).getHex(), 0xffffff);
});
