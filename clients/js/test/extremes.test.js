/** NaN, infinities and 1e308 in each number of each command, past the client's check: the server's refusal names the field, and
 * the connection lives on. */
import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";
import { test } from "node:test";
import { COMMAND, BadNumber, command, shapes } from "../src/index.js";
import { connect } from "../src/tcp.js";
import { daemon } from "./daemon.js";

const COUNTS = { VEC3: 3, QUAT: 4 };
const VALID = {
  BODY: 1, SHAPE: 1, JOINT: 1, FORCE_FIELD: 1, PARTICLES: 1, ENUM: 1, U32: 1, INTEGER: 1, SEED: 1, F64: 1, VEC3: [0, 0, 0], QUAT: [1, 0, 0, 0], TEXT: "lcp",
  NAME: new Uint8Array(32), ATTACHMENTS: [], TARGETS: [[1, 0, 0]], POINTS: [[0, 0]],
};

/** A field's values with `value` in each place of a number in turn. */
function spoiled(kind, value) {
  const rows = {
    F64: [value], TARGETS: [[[1, 0, value]]], POINTS: [[[value, 0]], [[0, value]]],
    ATTACHMENTS: [[[1, [0, value, 0]]], [[1, [0, 0, 0], [1, value, 0, 0]]]],
  };
  return rows[kind] ?? Array.from({ length: COUNTS[kind] ?? 0 }, (_, k) => VALID[kind].map((usual, i) => i === k ? value : usual));
}

/** {command: {field: kind}} of the server's manifest. */
function kinds() {
  const text = fs.readFileSync(path.join(process.env.CAIRN_SRCDIR, "server/engine/world/commands.def"), "utf8");
  const found = {}, names = {};
  for (const [, macro, rest] of text.matchAll(/^(COMMAND|FIELD)\(([^"]*)/gm)) {
    const words = rest.split(",").map((word) => word.trim());
    if (macro === "COMMAND") found[names[words[1]] = words[2]] = {};
    else found[names[words[0]]][words[2]] = words[1];
  }
  return found;
}

test("every number of every command", async () => {
  const server = await daemon(), client = await connect(server.address), world = await client.create("extremes");
  await world.spawn({ mass: 1 });
  await world.shape(shapes.sphere(1));
  await world.apply(command("joint_create", { type: "spherical", body_a: 0, body_b: 1 }));
  const before = (await world.step(0)).hash.slice();
  let count = 0;
  for (const [name, fields] of Object.entries(kinds())) {
    assert.ok(COMMAND[name], name);
    for (const [field, kind] of Object.entries(fields)) {
      for (const value of [NaN, Infinity, -Infinity, 1e308, -1e308]) {
        for (const bad of spoiled(kind, value)) {
          const needed = COMMAND[name].fields.filter(([, fallback]) => fallback === undefined)
            .map(([other]) => [other, name === "parameter" && other === "name" ? "sleep.time" : VALID[fields[other]]]);
          const usual = kind === "F64" ? COMMAND[name].fields.find(([other]) => other === field)[1] ?? VALID.F64 : VALID[kind];
          const given = { ...Object.fromEntries(needed), [field]: usual };
          const packed = command(name, given);
          packed[1 + Object.keys(fields).indexOf(field)] = bad;
          await assert.rejects(world.apply(packed), (error) => error.field === field && !(error instanceof BadNumber) &&
            ["not_finite", "range"].includes(error.status), `${name}.${field} ${value}`);
          count++;
        }
      }
    }
  }
  assert.ok(count > 500);
  assert.deepEqual((await world.step(0)).hash, before);
  client.close();
  await server.stop();
});
