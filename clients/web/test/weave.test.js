/** Surfaces of linked particles: cells of a lattice, the outside of tetrahedra, lines of ropes. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { weaveOf } from "../src/weave.js";

const ROD = 0, ROPE = 1, VOLUME = 2;
const linksOf = (list) => Uint32Array.from(list.flatMap(([kind, ...ends]) => [kind, ...ends, 0, 0, 0, 0].slice(0, 5)));
const area = (triangles, positions) => {
  let sum = 0;
  for (let i = 0; i < triangles.length; i += 3) {
    const [p, q, r] = [0, 1, 2].map((k) => positions.slice(3 * triangles[i + k], 3 * triangles[i + k] + 3));
    sum += ((q[0] - p[0]) * (r[1] - p[1]) - (q[1] - p[1]) * (r[0] - p[0])) / 2;
  }
  return sum;
};

test("a cloth is each of its cells once, all facing one way, whatever links keep it from bending", () => {
  const COLUMNS = 4, ROWS = 3, at = (x, y) => 1 + x + COLUMNS * y, links = [], positions = [];
  for (let y = 0; y < ROWS; y++)
    for (let x = 0; x < COLUMNS; x++) {
      positions.push(x, y, 0);
      for (const [dx, dy] of [[1, 0], [0, 1], [1, 1], [1, -1], [2, 0], [0, 2]])
        if (x + dx < COLUMNS && y + dy < ROWS && y + dy >= 0) links.push([ROD, at(x, y), at(x + dx, y + dy)]);
    }
  const { triangles, lines } = weaveOf(linksOf(links), positions);
  assert.equal(triangles.length / 3, 2 * (COLUMNS - 1) * (ROWS - 1));
  assert.ok(Math.abs(Math.abs(area(triangles, positions)) - (COLUMNS - 1) * (ROWS - 1)) < 1e-9);
  assert.equal(lines.length, 0);
});

test("a block is its skin, which is closed and faces outwards", () => {
  const positions = [0, 0, 0, 1, 0, 0, 0, 1, 0, 1, 1, 0, 0, 0, 1, 1, 0, 1, 0, 1, 1, 1, 1, 1];
  const cell = [[0, 3, 5, 6], [1, 0, 3, 5], [2, 0, 3, 6], [4, 0, 5, 6], [7, 3, 5, 6]];
  const { triangles } = weaveOf(linksOf(cell.map((ends) => [VOLUME, ...ends.map((end) => end + 1)])), positions);
  assert.equal(triangles.length / 3, 12);
  let volume = 0;
  const edges = new Map();
  for (let i = 0; i < triangles.length; i += 3) {
    const [a, b, c] = triangles.slice(i, i + 3), [p, q, r] = [a, b, c].map((k) => positions.slice(3 * k, 3 * k + 3));
    volume += (p[0] * (q[1] * r[2] - q[2] * r[1]) + p[1] * (q[2] * r[0] - q[0] * r[2]) + p[2] * (q[0] * r[1] - q[1] * r[0])) / 6;
    for (const [from, to] of [[a, b], [b, c], [c, a]]) edges.set(`${from}>${to}`, `${to}>${from}`);
  }
  assert.ok(Math.abs(volume - 1) < 1e-12, `the volume inside is ${volume}`);
  for (const back of edges.values()) assert.ok(edges.has(back));
});

test("a block of a planar world is its triangles, all towards the viewer", () => {
  const positions = [0, 0, 0, 1, 0, 0, 0, 1, 0, 1, 1, 0];
  const { triangles, lines } = weaveOf(linksOf([[VOLUME, 1, 2, 4], [VOLUME, 1, 3, 4], [ROD, 1, 2]]), positions);
  assert.equal(triangles.length / 3, 2);
  assert.ok(Math.abs(area(triangles, positions) - 1) < 1e-12);
  assert.equal(lines.length, 0);
});

test("a rope is lines", () => {
  const { triangles, lines } = weaveOf(linksOf([[ROPE, 1, 2], [ROD, 2, 3]]), [0, 0, 0, 1, 0, 0, 2, 0, 0]);
  assert.deepEqual([triangles, lines], [[], [0, 1, 1, 2]]);
});
