/** Where sinks are drawn: in the world, and as a body carries them. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { Group } from "three";
import { placeOfSink, Sinks } from "../src/sinks.js";

const HALF = Math.SQRT1_2;
/** Body 7 in slot 1, at (1, 2, 3), turned by a quarter about z. */
const MIRROR = { slots: new Map([[7, 1]]), position: new Float64Array([0, 0, 0, 1, 2, 3]), rotation: new Float64Array([1, 0, 0, 0, HALF, 0, 0, HALF]) };
const BOX = { number: 1, region: "box", body: 0, position: [1, 0, 0], rotation: [1, 0, 0, 0], size: [1, 2, 3], radius: 0, taken: 0, mass: 0 };

test("a sink of the world stays where it is", () => {
  assert.deepEqual(placeOfSink(BOX, MIRROR).position.toArray(), [1, 0, 0]);
});

test("a carried sink moves and turns with its body", () => {
  const { position, rotation } = placeOfSink({ ...BOX, body: 7 }, MIRROR);
  position.toArray().forEach((x, i) => assert.ok(Math.abs(x - [1, 3, 3][i]) < 1e-12));
  assert.ok(Math.abs(rotation.z - HALF) < 1e-12);
});

test("a body that is a sink, and one whose body is not there, are not drawn", () => {
  assert.equal(placeOfSink({ ...BOX, region: "body", body: 7 }, MIRROR), null);
  assert.equal(placeOfSink({ ...BOX, body: 8 }, MIRROR), null);
});

test("counts that grow do not draw sinks anew", () => {
  const sinks = new Sinks(new Group()), ball = { ...BOX, region: "ball", radius: 1 };
  sinks.take([{ sinks: [BOX, ball, { ...BOX, region: "body", body: 7 }] }, {}]);
  const { version } = sinks;
  assert.equal(sinks.group.children.length, 2);
  sinks.take([{ sinks: [{ ...BOX, taken: 9, mass: 2 }, ball, { ...BOX, region: "body", body: 7 }] }]);
  assert.equal(sinks.version, version);
  sinks.take([]);
  assert.equal(sinks.group.children.length, 0);
});
