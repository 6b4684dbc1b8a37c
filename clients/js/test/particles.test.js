/** Particles of subscriptions in every profile, with their hashes, held against the answers to queries. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { after, before, test } from "node:test";
import { Closed, Mirror, PROFILE, Particles, areas, command, isRight, particlesHash } from "../src/index.js";
import { connect } from "../src/tcp.js";
import { Splitter, decode } from "../src/wire.js";
import { daemon, until } from "./daemon.js";

let server, client;
before(async () => {
  server = await daemon();
  client = await connect(server.address);
});
after(async () => {
  client.close();
  await server.stop();
});

/** A world with an emitter whose particles die, and one whose particles are dragged. */
async function fountains(name) {
  const world = await client.create(name, {});
  await world.apply(command("particles_create", { name: "short", position: [0, 2, 0], rate: 40, life: 0.3, life_deviation: 0.2, speed: 4, spread: 1 }));
  await world.apply(command("particles_create", { name: "long", position: [8, 2, 0], rate: 25, life: 0, speed: 4, spread: 2, drag: 0.002,
    mass_deviation: 0.0004, capacity: 900 }));
  return world;
}

/** The mirror, once it has the frame of the world's state. */
async function current({ mirror }, { tick, epoch }) {
  await until(() => mirror.whole && mirror.tick === tick && mirror.epoch === epoch, "the frame of the world's state");
  return mirror;
}

/** The particles that a query finds, as the mirror should have them. */
async function queried(world, seen = () => true) {
  const all = [];
  for (const { id } of await world.systems()) {
    const { serials, positions, velocities } = await world.particles(id);
    serials.forEach((serial, i) => {
      const position = positions.slice(3 * i, 3 * i + 3);
      if (seen(Number(serial), position)) all.push({ system: id, serial: Number(serial), position, velocity: velocities.slice(3 * i, 3 * i + 3) });
    });
  }
  return all;
}

function assertShown({ particles, profile }, meant) {
  const step = profile === PROFILE.view ? 512 : profile === PROFILE.sim ? 4096 : 0;
  assert.equal(particles.count, meant.length);
  meant.forEach(({ system, serial, position }, i) => {
    assert.deepEqual([particles.system[i], particles.serial[i]], [system, serial]);
    position.forEach((value, axis) => {
      const shown = particles.position[3 * i + axis];
      if (step === 0) assert.equal(shown, value);
      else assert.ok(Math.abs(shown - value) <= 0.5 / step);
    });
  });
}

for (const profile of Object.keys(PROFILE))
  test(`a mirror of profile ${profile} follows births, deaths, removal and restore`, async () => {
    const world = await fountains(`spray-${profile}`);
    const seen = await world.subscribe({ profile: PROFILE[profile], particles: true });
    for (let round = 0; round < 8; round++) {
      if (round === 2) await world.save("then");
      if (round === 4) await world.apply(command("particles_remove", { system: 1 }));
      if (round === 6) await world.restore("then");
      await world.step(5 + round);
      const mirror = await current(seen, world);
      assertShown(mirror, await queried(world));
      assert.equal(isRight(mirror), true);
      assert.deepEqual([...mirror.particles.systems], (await world.systems()).map(({ id, alive }) => [id, alive]));
    }
    assert.ok(seen.mirror.particles.count > 600, "more than one block");
    const [first, end] = seen.mirror.particles.range(2);
    assert.equal(end - first, seen.mirror.particles.systems.get(2));
  });

const STREAMS = JSON.parse(readFileSync(`${process.env.CAIRN_SRCDIR}/tests/data/wire/particles.json`, "utf8"));
const messageOf = (hex) => decode([...new Splitter().take(Uint8Array.from(Buffer.from(hex, "hex")))][0]);

for (const { profile, frames } of STREAMS.streams)
  test(`a mirror of profile ${profile} has the recorded particles after each frame`, () => {
    const mirror = new Mirror(STREAMS.fields, PROFILE[profile], 0, STREAMS.particles), { particles } = mirror;
    for (const { tick, parts, systems, particles: meant } of frames) {
      parts.forEach((part, i) => assert.equal(mirror.take(messageOf(part)), i + 1 === parts.length));
      assert.deepEqual([mirror.tick, particles.count, [...particles.systems]], [tick, meant.length, systems]);
      meant.forEach(({ system, serial, velocity, position, size, life, density, pressure }, i) => {
        const shown = [particles.system[i], particles.serial[i], ...particles.velocity.slice(3 * i, 3 * i + 3),
          ...particles.position.slice(3 * i, 3 * i + 3), ...particles.size.slice(2 * i, 2 * i + 2), ...particles.life.slice(2 * i, 2 * i + 2),
          particles.density[i], particles.pressure[i]];
        assert.deepEqual(shown.map((value) => value + 0), [system, serial, ...velocity, ...position, ...size, ...life, density, pressure].map((value) => value + 0));
      });
      assert.equal(particlesHash(mirror), Buffer.from(particles.hash).readBigUInt64BE());
    }
  });

test("areas, samples and counts show a part of the particles", async () => {
  const world = await fountains("parts");
  const ball = await world.subscribe({ profile: PROFILE.view, particles: ["position"], areas: [areas.ball([8, 2, 0], 1)] });
  const third = await world.subscribe({ profile: PROFILE.exact, particles: ["position", "velocity"], sample: 3 });
  const counts = await world.subscribe({ particles: ["count"] });
  for (let round = 0; round < 4; round++) {
    await world.step(9);
    assertShown(await current(ball, world), await queried(world, (_, [x, y, z]) => Math.hypot(x - 8, y - 2, z) <= 1));
    assertShown(await current(third, world), await queried(world, (serial) => serial % 3 === 0));
    const { particles } = await current(counts, world);
    assert.equal(particles.count, 0);
    assert.deepEqual([...particles.systems], (await world.systems()).map(({ id, alive }) => [id, alive]));
  }
  assert.ok(ball.mirror.particles.count > 0 && ball.mirror.particles.velocity === undefined);
  assert.equal(third.mirror.particles.size, undefined);
  await assert.rejects(world.subscribe({ particles: 128 }), { status: "range", field: "particles" });
  await assert.rejects(world.subscribe({ particles: ["colour"] }), TypeError);
});

test("damaged blocks are refused, and particles shown before stay", () => {
  const frame = (bytes, rest = {}) => ({ kind: 3, part: 0, of: 1, systems: [[1, 2]], blocks: Uint8Array.from(bytes), hash: null, ...rest });
  const begin = () => {
    const particles = new Particles(2, "view");
    particles.take(frame([1, 1, 3, 0, 2, 0, 1, 0, 2, 4, 6, 2, 4, 6], { flags: 8 }));
    return particles;
  };
  assert.deepEqual([...begin().position], [1, 2, 3, 1, 2, 3].map((steps) => steps / 512));
  const still = begin();
  still.take(frame([1, 1, 3, 0, 0, 0, 125, 1]));
  assert.equal(still.count, 2);
  for (const bytes of [
    [1, 1, 3, 1, 1, 0, 0, 125, 0], [1, 1, 3, 0, 1, 0, 0, 125, 1, 0, 0, 0], [1, 1, 3, 0, 0, 0, 125, 2], [1, 1, 3, 0, 0, 0, 127],
    [1, 1, 3, 0, 0, 0, 126, 1, 1], [1, 0, 3, 0, 0, 0, 125, 1], [1, 3, 1, 0, 0, 0], [2, 1, 3, 0, 0, 0], [1, 1, 3, 1, 3, 0, 0],
    [1, 1, 1, 0, 0, 0, 62, 1, 1, 3, 0, 0, 0],
  ]) {
    const particles = begin();
    assert.throws(() => particles.take(frame(bytes)), (error) => error instanceof Closed || error instanceof RangeError, String(bytes));
    assert.equal(particles.count, 2);
  }
  assert.throws(() => begin().take(frame([], { kind: 1 })), Closed);
  assert.equal(typeof particlesHash(new Mirror(31, PROFILE.view, 0, 127)), "bigint");
});
