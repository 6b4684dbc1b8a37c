/** Which bodies a mutual field is drawn between, and where. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { NEAREST, Pulls, pairsOf } from "../src/pulls.js";

const AT = (x) => [x, 0, 0];
/** Bodies 5 to 8 in slots 0 to 3 along x; the last does not move. */
const mirror = () => ({ slots: new Map([[5, 0], [6, 1], [7, 2], [8, 3]]), status: new Uint8Array([2, 0, 2, 0, 2, 0, 1, 0]),
  position: new Float64Array([0, 0, 0, 1, 0, 0, 5, 0, 0, 0.5, 0, 0]) });
const FIELD = { kind: "mutual", region: "ball", half: [2, 0, 0], mask: 1 };
const lineEnds = (pulls, i = 0) => [...pulls.group.children[i].geometry.attributes.position.array];

test("each body is joined with its nearest in range, each pair once", () => {
  assert.deepEqual(pairsOf([AT(0), AT(1), AT(5)], 2), [[0, 1]]);
  assert.deepEqual(pairsOf([AT(0), AT(1), AT(5)], Infinity), [[0, 1], [0, 2], [1, 2]]);
  assert.deepEqual(pairsOf([], 1), []);
  const row = Array.from({ length: 40 }, (_, i) => AT(i)), pairs = pairsOf(row, Infinity);
  assert.ok(pairs.length <= NEAREST * row.length && pairs.every(([i, j]) => i < j && j - i <= NEAREST));
});

test("lines run between moving bodies of the mask, and follow them", () => {
  const pulls = new Pulls(), at = mirror();
  assert.equal(pulls.take([[FIELD, [5, 6, 7, 8, 99]]], at), true);
  assert.deepEqual(lineEnds(pulls), [0, 0, 0, 1, 0, 0]);
  at.position[0] = -0.5;
  pulls.move(at);
  assert.deepEqual(lineEnds(pulls), [-0.5, 0, 0, 1, 0, 0]);
  assert.equal(pulls.take([[FIELD, [5, 6, 7, 8, 99]]], at), false);
  at.slots.delete(6);
  pulls.move(at);
  assert.deepEqual(lineEnds(pulls), [0, 0, 0, 0, 0, 0]);
});

test("bodies are asked for by the mask of each mutual field", async () => {
  const asked = [];
  const world = { overlap: async (shape, position, rotation, { mask }) => (asked.push([shape, mask]), [mask]) };
  const fields = [{ kind: "wind", mask: 7 }, { ...FIELD, mask: 1 }, { ...FIELD, mask: 2 }];
  assert.deepEqual((await Pulls.ask(world, fields, "ball")).map(([{ mask }, ids]) => [mask, ids]), [[1, [1]], [2, [2]]]);
  assert.deepEqual(asked, [["ball", 1], ["ball", 2]]);
  const pulls = new Pulls();
  pulls.take([[FIELD, [5, 6]], [FIELD, [6, 7]]], mirror());
  assert.equal(pulls.group.children.length, 2);
  pulls.take([], mirror());
  assert.equal(pulls.group.children.length, 0);
});
