/** The past of a world: states that were seen live are seen again, forward and backward, and questions find them. */
import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { PROFILE, Refused, command, isRight, shapes } from "../src/index.js";
import { connect } from "../src/tcp.js";
import { daemon } from "./daemon.js";

let server, client, data;
before(async () => {
  data = mkdtempSync(join(tmpdir(), "cairn-past-"));
  server = await daemon("--data", data, "--keyframe-ticks", "40");
  client = await connect(server.address);
});
after(async () => {
  client.close();
  await server.stop();
  rmSync(data, { recursive: true, force: true });
});

test("any tick is shown again with the bits it had, and can be returned to", async () => {
  const world = await client.create("past", { seed: 3 });
  const ball = await world.shape(shapes.sphere(0.5));
  const body = await world.spawn({ shapes: [[ball]], position: [0, 50, 0] });
  const seen = new Map(), came = [], ends = [];
  let subscription = null;
  subscription = await world.subscribe({
    profile: PROFILE.exact,
    onFrame: (mirror) => {
      assert.notEqual(isRight(mirror), false);
      came.push(mirror.tick);
      if (!subscription?.past) seen.set(mirror.tick, mirror.body(body).position);
      else assert.deepEqual(mirror.body(body).position, seen.get(mirror.tick));
    },
    onSought: (where) => ends.push(where),
  });
  for (let i = 0; i < 150; i++) await world.step(1, i === 90 ? [command("impulse", { body, impulse: [900, 0, 0] })] : []);
  while (!seen.has(150)) await sleep(10);
  came.length = 0;
  let where;
  // A tick is in the world's file some 20 ms after it was made; before the first one there is nothing to show.
  do {
    where = await world.seek(subscription, 77).catch((error) => {
      if (!(error instanceof Refused) || !error.message.startsWith("missing")) throw error;
      return { last: 0 };
    });
  } while (where.last < 150);
  assert.deepEqual([where.tick, where.first, where.last, where.present], [77, 0, 150, false]);
  while (came.at(-1) !== 77) await sleep(10);
  await world.seek(subscription, 120, { speed: -2 });
  while (ends.length === 0) await sleep(10);
  assert.deepEqual([ends[0].tick, ends[0].speed], [0, 0]);
  assert.equal(world.tick, 150);
  assert.ok((await world.seek(subscription)).present);
  const found = await world.when("x", { above: 1e-6, body });
  assert.equal(found.tick, 91);
  assert.deepEqual(found.commands.map(({ name }) => name), ["impulse"]);
  assert.equal(await world.when("y", { above: 1000 }), null);
  assert.equal((await world.past()).epochs[0].last, 150);
  assert.equal(await world.difference(9, 9), null);
  assert.equal((await world.difference(9, 10)).table, "world");
  await assert.rejects(world.seek(subscription, 9999), Refused);
  assert.equal((await world.fork("twin", "", { tick: 100 })).tick, 100);
  assert.equal((await world.stepBack(10)).tick, 140);
  assert.equal((await world.restart()).tick, 0);
});

test("a recording is made, read, shown and copied", async () => {
  const world = await client.create("recorded");
  const ball = await world.shape(shapes.sphere(0.5));
  const body = await world.spawn({ shapes: [[ball]], position: [0, 50, 0] });
  await world.step(10);
  assert.deepEqual((await world.record("js", { title: "a fall", seconds: 60 })).first, { epoch: 1, tick: 10 });
  await world.step(30);
  const high = (await world.query(5, body))[5];
  const [running] = await world.recordings();
  assert.deepEqual([running.name, running.title, running.running], ["js", "a fall", true]);
  const made = await world.stopRecording();
  assert.deepEqual([made.first.tick, made.last.tick], [10, 40]);
  assert.equal((await world.readRecording("js")).length, made.bytes);
  const subscription = await world.subscribe({ profile: PROFILE.exact });
  assert.equal((await world.seek(subscription, 20, { recording: "js" })).last, 40);
  const copy = await world.fork("recorded-2", "", { recording: "js" });
  assert.equal(copy.tick, 40);
  assert.deepEqual((await copy.query(5, body))[5], high);
  await world.saveRecording("all");
  await world.removeRecording("js");
  assert.deepEqual((await world.recordings()).map(({ name }) => name), ["all"]);
  await assert.rejects(world.stopRecording(), (error) => error instanceof Refused);
});
