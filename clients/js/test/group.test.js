/** Many worlds stepped by one message, against a private daemon. */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { ACTION, Refused, command, observe, shapes } from "../src/index.js";
import { connect } from "../src/tcp.js";
import { daemon } from "./daemon.js";

let server, client;
before(async () => {
  server = await daemon();
  client = await connect(server.address);
});
after(async () => {
  client.close();
  await server.stop();
});

let made = 0;
async function worldsOf(count) {
  return Promise.all(Array.from({ length: count }, async () => {
    const world = await client.create(`g${++made}`);
    await world.spawn({ shapes: [[await world.shape(shapes.sphere(0.5))]], position: [0, 10, 0], mass: 2 });
    return world;
  }));
}

test("a world in a group has the hashes it has alone", async () => {
  const [together, alone] = [await worldsOf(3), await worldsOf(3)];
  const actions = [command("force", { body: 1, force: [ACTION, 0, ACTION] })];
  for (let t = 0; t < 5; t++) {
    const values = Float64Array.from({ length: 6 }, (_, i) => i - 0.1 * t);
    const seen = await client.stepWorlds(together, {
      actions, values, ticks: 2, hashes: true, observe: [observe.bodies([1], ["position"]), observe.totals()],
    });
    assert.equal(seen.width, 11);
    for (const [i, world] of alone.entries()) {
      const own = await world.step(2, [command("force", { body: 1, force: [values[2 * i], 0, values[2 * i + 1]] })]);
      assert.deepEqual(seen.worlds[i].hash, own.hash);
      assert.equal(seen.worlds[i].tick, own.tick);
      assert.deepEqual([...seen.observations.slice(11 * i, 11 * i + 3)], [...(await world.facts(1)).position]);
    }
  }
});

test("a NaN is refused for its world alone", async () => {
  const worlds = await worldsOf(3);
  const { worlds: seen, observations } = await client.stepWorlds(worlds, {
    actions: [command("impulse", { body: 1, impulse: ACTION })], values: [1, 0, 0, 0, NaN, 0, 0, 0, 1e308],
    observe: [observe.rays({ origin: [0, 0, 0], direction: [0, 1, 0], length: 20 })],
  });
  assert.deepEqual(seen.map(({ error, tick }) => [error?.status, error?.field, tick]),
    [[undefined, undefined, 1], ["not_finite", "impulse", 0], ["range", "impulse", 0]]);
  assert.ok(Math.abs(observations[0] - 9.5) < 0.01 && observations[1] === 1);
  const again = await client.stepWorlds(worlds, { commands: [[], [command("spawn", { status: 2, position: [0, 0, 9] })]] });
  assert.deepEqual(again.worlds.map(({ values, error }) => [values, error]), [[[], null], [[2], null], [[], null]]);
});

test("a message that is wrong as a whole is refused", async () => {
  const worlds = await worldsOf(2);
  await assert.rejects(client.stepWorlds(worlds, { actions: [command("force", { body: 1, force: ACTION })], values: [1] }),
    (error) => error instanceof Refused && error.status === "range" && error.field === "values");
  await assert.rejects(client.stepWorlds([worlds[0], worlds[0]]), { status: "exists" });
});

test("a message that the server would not take is refused before it is sent", async () => {
  const worlds = await worldsOf(1);
  await assert.rejects(client.stepWorlds(worlds, {
    actions: [command("force", { body: 1, force: ACTION })], values: new Float64Array(3 * 12000), steps: 12000,
  }), (error) => error instanceof RangeError && /step_worlds takes 288\d\d\d bytes.*262144/.test(error.message));
  assert.equal((await client.stepWorlds(worlds)).worlds[0].tick, 1);
});
