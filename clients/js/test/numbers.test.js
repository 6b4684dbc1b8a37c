/** Numbers are checked before they are sent, and one word sets both frictions. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { ACTION, BadNumber, COMMAND, Refused, command } from "../src/index.js";
import { ball, box, frustum } from "../src/areas.js";
import { LIMITS, QUERY_LIMITS } from "../src/manifest.js";
import { Queries } from "../src/queries.js";
import { connect } from "../src/tcp.js";
import { daemon } from "./daemon.js";

const EXTREMES = [NaN, Infinity, -Infinity, 1e308, -1e308];
const VALID = { VEC3: [0, 0, 0], QUAT: [1, 0, 0, 0], TARGETS: [[1, 0, 0]], POINTS: [[0, 0]], ATTACHMENTS: [[1, [0, 0, 0], [1, 0, 0, 0]]] };

/** The value with `bad` in each place of a number in turn; ids and axes are no such places. */
function placed(type, value, bad) {
  const at = (list, k) => list.map((usual, i) => i === k ? bad : usual);
  switch (type) {
    case "VEC3": case "QUAT": return value.map((_, k) => at(value, k));
    case "TARGETS": return [[[1, 0, bad]]];
    case "POINTS": return [[[bad, 0]], [[0, bad]]];
    case "ATTACHMENTS": return [[[1, [0, bad, 0]]], [[1, [0, 0, 0], [1, bad, 0, 0]]]];
    default: return [bad];
  }
}

/** The required fields of a command, with values within their limits. */
const usualOf = (name) => Object.fromEntries(COMMAND[name].fields.filter(([, fallback]) => fallback === undefined).map(([field]) => {
  const [type, least = 1] = LIMITS[name]?.[field] ?? [];
  return [field, VALID[type] ?? Math.max(least, 0)];
}));

const isBad = (field) => (error) => error instanceof BadNumber && error instanceof Refused && error.field === field &&
  ["not_finite", "range"].includes(error.status) && error.message.includes(`${field} `);

test("each number of each command is checked, and what is within the limits is not refused", () => {
  let count = 0;
  for (const [name, fields] of Object.entries(LIMITS))
    for (const [field, [type, least, most]] of Object.entries(fields)) {
      const bad = type in VALID ? EXTREMES : [...EXTREMES, least - 1, most + 1].filter((value) => !(value >= least && value <= most));
      for (const value of bad)
        for (const content of placed(type, VALID[type], value)) {
          assert.throws(() => command(name, { ...usualOf(name), [field]: content }), isBad(field), `${name}.${field} ${value}`);
          count++;
        }
      for (const value of type in VALID ? [VALID[type]] : [least, most]) command(name, { ...usualOf(name), [field]: value });
    }
  assert.ok(count > 500);
  assert.deepEqual(command("force", { body: 1, force: [ACTION, 0, ACTION] }), [15, 1, [null, 0, null]]);
});

test("each number of each query is checked before it is sent", async () => {
  const world = new Queries();
  world.client = { request: () => assert.fail("a message was sent") };
  const usual = { PLACE: [0, 0, 0], DIRECTION: [0, 1, 0], WAY: [0, 1, 0], ROTATION: [1, 0, 0, 0], LENGTH: 1 };
  let count = 0;
  for (const [kind, fields] of Object.entries(QUERY_LIMITS)) {
    const values = fields.map(([, type, least]) => usual[type] ?? least);
    for (const [at, [field, type]] of fields.entries())
      for (const value of EXTREMES) {
        if (["SHAPE", "NAME", "BODIES", "NUMBERS"].includes(type) || (type === "DIRECTION" && Number.isFinite(value))) continue;
        const bad = Array.isArray(values[at]) ? [value, ...values[at].slice(1)] : value;
        await assert.rejects(world.query(Number(kind), ...values.slice(0, at), bad, ...values.slice(at + 1)), isBad(field));
        count++;
      }
  }
  assert.ok(count > 200);
});

test("each number of areas and of new worlds is checked before it is sent", async () => {
  const zero = [0, 0, 0], one = [1, 0, 0, 0];
  for (const value of [NaN, Infinity, -Infinity]) {
    const bad = [0, value, 0];
    for (const [field, area] of [
      ["minimum", () => box(bad, zero)], ["maximum", () => box(zero, bad)], ["centre", () => ball(bad, 1)],
      ["radius", () => ball(zero, value)], ["eye", () => frustum(bad, one, 1, 1, 1, 2)],
      ["rotation", () => frustum(zero, [1, 0, value, 0], 1, 1, 1, 2)], ["halfWidth", () => frustum(zero, one, value, 1, 1, 2)],
      ["far", () => frustum(zero, one, 1, 1, 1, value)],
    ]) assert.throws(area, isBad(field), field);
  }
  const server = await daemon(), client = await connect(server.address);
  await assert.rejects(client.create("never", { gravity: [0, NaN, 0] }), isBad("gravity"));
  await assert.rejects(client.create("never", { rate: Infinity }), isBad("rate"));
  await assert.rejects(client.create("never", { gravity: [0, 1e308, 0] }), (error) => error.field === "gravity");
  assert.equal((await client.list()).length, 0);
  client.close();
  await server.stop();
});

test("friction is the static and the dynamic friction that are not given", async () => {
  const at = 1 + COMMAND.spawn.fields.findIndex(([field]) => field === "static_friction");
  const frictions = (fields) => command("spawn", { status: 2, position: [0, 0, 0], restitution: 0.1, ...fields }).slice(at, at + 2);
  assert.deepEqual(frictions({ friction: 0.3 }), [0.3, 0.3]);
  assert.deepEqual(frictions({ friction: 0.3, dynamic_friction: 0.2 }), [0.3, 0.2]);
  assert.deepEqual(frictions({ friction: 0.3, static_friction: 0.4 }), [0.4, 0.3]);
  assert.throws(() => command("set_pose", { body: 1, position: [0, 0, 0], friction: 0.3 }), /no field friction/);
  assert.throws(() => command("set_material", { body: 1, restitution: 0 }), /needs static_friction/);
  const server = await daemon(), client = await connect(server.address), hashes = [];
  for (const [name, spawn, set] of [["short", { friction: 0.25 }, { friction: 0.7 }],
    ["long", { static_friction: 0.25, dynamic_friction: 0.25 }, { static_friction: 0.7, dynamic_friction: 0.7 }]]) {
    const world = await client.create(name), body = await world.spawn({ mass: 1, ...spawn });
    hashes.push((await world.step(0)).hash.slice());
    await world.apply(command("set_material", { body, restitution: 0.5, ...set }));
    hashes.push((await world.step(0)).hash.slice());
    await assert.rejects(world.control("speed", NaN), isBad("value"));
  }
  assert.deepEqual(hashes.slice(0, 2), hashes.slice(2));
  assert.notDeepEqual(hashes[0], hashes[1]);
  client.close();
  await server.stop();
});
