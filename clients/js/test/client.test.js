/** The client against a private daemon. */
import assert from "node:assert/strict";
import path from "node:path";
import { after, before, test } from "node:test";
import { ALL, ALL_EVENTS, PROFILE, Refused, command, shapes } from "../src/index.js";
import { connect, load } from "../src/tcp.js";
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

let worlds = 0;
async function falling(options = {}) {
  const world = await client.create(`w${++worlds}`, options);
  const ball = await world.shape(shapes.sphere(0.5));
  const body = await world.spawn({ shapes: [[ball]], position: [0, 10, 0] });
  return { world, body };
}

/** Resolves at the first frame for which `check` holds. */
const frameWhere = (world, options, check) => new Promise((resolve, reject) => {
  world.subscribe({ ...options, onFrame: (mirror) => check(mirror) && resolve(mirror) }).catch(reject);
});

test("load sends a scene to a world, once as a file of its own name", async () => {
  process.env.CAIRN = path.join(process.env.CAIRN_BUILDDIR, "cairn");
  const scene = path.join(process.env.CAIRN_SRCDIR, "clients/scenes/pyramid.yaml");
  const world = await load(client, scene), again = await load(client, scene, "second-pyramid");
  assert.deepEqual([world.name, world.bodies, again.name], ["pyramid", 211, "second-pyramid"]);
  assert.deepEqual((await world.step(10)).hash, (await again.step(10)).hash);
  await assert.rejects(load(client, "/nonexistent.yaml"), /nonexistent/);
});

test("a robot's text becomes a world, with the share of its links that is asked for", async () => {
  const folder = path.join(process.env.CAIRN_SRCDIR, "tests/data/robots");
  const other = await daemon("--scene-folder", folder), alone = await connect(other.address);
  const masses = [];
  for (const [name, jointLinkShare] of [["usual", 0], ["light", 1e-4]]) {
    const world = await alone.openScene("two_anchors.xml", name, { jointLinkShare });
    masses.push((await world.mass(2)).mass);
  }
  assert.deepEqual(masses, [0.02, 2e-4]);
  await assert.rejects(alone.openScene("two_anchors.xml", "sky", { base: "sky" }), /base is sky: it must be null, "fixed" or "floating"/);
  await assert.rejects(alone.openScene("two_anchors.xml", "refused", { jointLinkShare: 1 }), /joint_link_share is 1; it must be from/);
  alone.close();
  await other.stop();
});

test("list returns all worlds, of a server with none and with three", async () => {
  const other = await daemon(), alone = await connect(other.address);
  assert.deepEqual(await alone.list(), []);
  for (const name of ["first", "second", "third"]) await alone.create(name);
  assert.deepEqual((await alone.list()).map(({ name, mode }) => [name, mode]),
    [["first", "paused"], ["second", "paused"], ["third", "paused"]]);
  alone.close();
  await other.stop();
});

test("destroy ends a world for every session", async () => {
  const { world } = await falling(), other = await connect(server.address);
  const seen = await other.join(world.name);
  await world.destroy();
  assert.ok(!(await client.list()).some(({ name }) => name === world.name));
  assert.ok(!client.worlds.has(world.number));
  await assert.rejects(seen.step(1), Refused);
  other.close();
});

test("info reports the quotas of each role", async () => {
  const { quotas } = await client.info("quotas");
  assert.deepEqual(Object.keys(quotas), ["nobody", "observer", "player", "controller", "admin"]);
  assert.equal(quotas.observer.queries, 120);
  assert.ok(quotas.observer.watched <= quotas.observer.watched_by_role);
});

test("a body falls g t²/2 in one second", async () => {
  const { world, body } = await falling({ method: "free" });
  const start = (await world.facts(body)).position[1];
  await world.step(60);
  const { position, velocity } = await world.facts(body);
  assert.ok(Math.abs(velocity[1] + 9.81) < 1e-6);
  assert.ok(position[1] < start - 4.5 && position[1] > start - 5.5);
});

test("the same commands give the same hashes", async () => {
  const hashes = [];
  for (let run = 0; run < 2; run++) {
    const { world } = await falling();
    hashes.push(Buffer.from((await world.step(100)).hash).toString("hex"));
  }
  assert.equal(hashes[0], hashes[1]);
});

for (const profile of ["plain", "exact"])
  test(`a mirror of profile ${profile} has the pose and velocity that a query returns`, async () => {
    const { world, body } = await falling();
    const mirror = await frameWhere(world, { fields: ALL, profile: PROFILE[profile] }, () => true);
    assert.equal(mirror.body(body).shapes.length, 1);
    await world.step(30);
    await world.subscribe({ fields: 31 }); // its snapshot arrives after the delta of tick 31
    const seen = mirror.body(body), facts = await world.facts(body);
    assert.deepEqual(seen.position, facts.position);
    assert.deepEqual(seen.rotation, facts.rotation);
    assert.deepEqual(seen.velocity, facts.velocity);
    await world.apply(command("remove", { body }));
    await world.subscribe({ fields: 31 });
    assert.equal(mirror.body(body), null);
  });

test("a rollback takes one round trip and leaves no trace", async () => {
  const world = await client.create("rolled", { method: "free" });
  const body = await world.spawn({ position: [0, 9, 0] });
  const saved = await world.save("then", { rollback: true });
  const push = command("impulse", { body, impulse: [9, 0, 0] });
  const right = await world.step(5, [push]);
  const wrong = await world.step(5);
  const again = await world.step(5, [push], { restore: "then", save: "now" });
  assert.equal(again.kept, true);
  assert.equal(again.epoch, wrong.epoch + 1);
  assert.deepEqual(again.hash, right.hash);
  const back = await world.restore("then", { rollback: true });
  assert.deepEqual(back.hash, saved.hash);
  await assert.rejects(world.restore("then"), { status: "unknown_snapshot" });
});

test("positions in profiles view and sim stay within half a step over many deltas", async () => {
  const { world, body } = await falling({ seed: 5 });
  await world.spawn({ status: 1, shapes: [[await world.shape(shapes.plane([0, 1, 0]))]] });
  const crate = await world.shape(shapes.box(0.5, 0.3, 0.4));
  for (let i = 0; i < 20; i++) await world.spawn({ shapes: [[crate]], position: [i % 3, 2 + i / 2, 0], angular_velocity: [3, 1, i] });
  const mirrors = [];
  for (const [profile, step] of [["view", 1 / 512], ["sim", 1 / 4096], ["exact", 0]])
    mirrors.push({ step, ...(await world.subscribe({ profile: PROFILE[profile] })) });
  const [view, sim, exact] = mirrors;
  for (let n = 0; n < 60; n++) {
    await world.step(2);
    await client.ping(); // PONG arrives after the frames of the last tick
    if (n === 20) await world.apply(command("remove", { body }));
    for (const { mirror, step } of [view, sim]) {
      if (mirror.tick !== exact.mirror.tick || mirror.edit !== exact.mirror.edit) continue;
      assert.equal(mirror.count, exact.mirror.count);
      for (const [id, slot] of exact.mirror.slots) {
        const mine = mirror.slots.get(id);
        for (let i = 0; i < 3; i++)
          assert.ok(Math.abs(mirror.position[mine * 3 + i] - exact.mirror.position[slot * 3 + i]) <= step / 2 + 1e-12);
      }
    }
  }
  assert.ok(view.mirror.frames > 20 && sim.mirror.frames > 20);
});

test("a running world sends events, and results name the tick of each batch", async () => {
  const { world, body } = await falling({ running: false });
  await world.spawn({ status: 1, shapes: [[await world.shape(shapes.plane([0, 1, 0]))]] });
  await world.apply(command("set_pose", { body, position: [0, 0.6, 0] }));
  const touched = new Promise((resolve, reject) => {
    world.subscribe({ events: ALL_EVENTS, onEvents: (tick, list) =>
      list.some((event) => event.kind === "contact_begin") && resolve(list) }).catch(reject);
  });
  await world.control("resume");
  const list = await touched;
  assert.ok(list.some(({ a, b }) => a === body || b === body));
  const first = await world.send(command("impulse", { body, impulse: [0, 100, 0] }));
  const second = await world.send(command("wake", { body }));
  assert.ok(second.tick >= first.tick && second.batch === first.batch + 1);
  await world.control("pause");
  assert.equal(world.mode, "paused");
});

test("a refusal names its status and field", async () => {
  const { world, body } = await falling();
  await assert.rejects(world.apply(command("impulse", { body: 999, impulse: [0, 0, 0] })),
    (error) => error instanceof Refused && error.status === "unknown_body");
  await assert.rejects(world.spawn({ density: -1 }), (error) => error.status === "range" && error.field === "density");
  await assert.rejects(client.join("nowhere"), (error) => error.status === "unknown_world");
  await world.control("resume");
  await assert.rejects(world.send(command("set_material",
    { body, static_friction: 0.1, dynamic_friction: 0.5, restitution: 0 })), Refused);
  assert.throws(() => command("impulse", { body, push: 1 }), /no field push/);
  assert.throws(() => command("impulse", { body }), /needs impulse/);
});

test("geometry returns the uploaded bytes of a shape, and describe decodes them", async () => {
  const { world } = await falling();
  const points = Array.from({ length: 4000 }, (_, i) => [Math.sin(i) * (i % 7), Math.cos(i) * (i % 5), i / 1000]);
  for (const data of [shapes.box(1, 2, 3), shapes.hull(points), shapes.capsule(1, 0.25), shapes.cylinder(1, 0.25),
    shapes.cone(1, 0.25), shapes.ellipsoid(1, 2, 3), shapes.box(1, 2, 3, 0.1), shapes.hull(points.slice(0, 40), 0.1),
    shapes.mesh([[0, 0, 0], [1, 0, 0], [0, 0, 1]], [[0, 2, 1]]),
    shapes.heightfield([[0, 1, 2], [1, 0, 1], [0, 0, 3]], 0.5, { holes: [[true, false], [false, false]] })]) {
    await world.shape(data);
    const name = new Uint8Array(await crypto.subtle.digest("SHA-256", data));
    assert.deepEqual(Buffer.from(await world.geometry(name)), Buffer.from(data));
    assert.ok(shapes.describe(data).kind);
  }
  assert.deepEqual(shapes.describe(shapes.box(1, 2, 3)), { kind: "box", half: [0.5, 1, 1.5] });
  assert.equal(shapes.describe(shapes.hull(points)).points.length, 12000);
  assert.deepEqual(shapes.describe(shapes.cone(1, 0.25)), { kind: "cone", halfLength: 0.5, radius: 0.25 });
  assert.deepEqual(shapes.describe(shapes.ellipsoid(1, 2, 3)), { kind: "ellipsoid", half: [0.5, 1, 1.5] });
  const hills = shapes.describe(shapes.heightfield([[0, 1, 2], [1, 0, 1], [0, 0, 3]], 0.5,
    { cellZ: 2, holes: [[true, false], [false, false]], patches: [[0, 0], [0, 7]] }));
  assert.deepEqual([...hills.points.slice(0, 6)], [-0.5, 0, -2, 0, 1, -2]);
  assert.deepEqual([...hills.triangles.slice(0, 6)], [1, 4, 5, 1, 5, 2]);
  assert.deepEqual([...hills.patches], [0, 0, 0, 0, 7, 7]);
  assert.throws(() => shapes.heightfield([[0, 0], [0]], 1), /different lengths/);
  assert.deepEqual(shapes.describe(shapes.box(1, 2, 3, 0.1)), { kind: "rounded", form: "box", radius: 0.1, half: [0.5, 1, 1.5] });
  assert.deepEqual([...shapes.describe(shapes.hull([[0, 0, 0], [1, 2, 3]], 0.1)).points], [0, 0, 0, 1, 2, 3]);
});

test("a solid of each form is accepted, and describe returns its form, detail and mesh", async () => {
  const { world } = await falling();
  const corners = [[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]], faces = [[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]];
  for (const form of ["hull", "parts", "field"]) {
    const data = shapes.solid(corners, faces, { form, detail: 32 });
    const body = await world.spawn({ shapes: [[await world.shape(data)]], position: [0, 50, 0] });
    const [{ name }] = (await world.facts(body)).shapes;
    const { triangles, points, ...rest } = shapes.describe(await world.geometry(name));
    assert.deepEqual(rest, { kind: "solid", form, detail: 32 });
    assert.deepEqual([...triangles], faces.flat());
    assert.deepEqual([...points], corners.flat());
  }
  assert.throws(() => shapes.solid(corners, faces, { form: "jelly" }), /no form jelly/);
});

test("an observer may query and may not command", async () => {
  const { world, body } = await falling();
  const observer = await connect(server.address, { role: "observer" });
  const seen = await observer.join(world.name);
  assert.equal((await seen.facts(body)).id, body);
  await assert.rejects(seen.send(command("remove", { body })), (error) => error.status === "forbidden");
  await assert.rejects(seen.control("resume"), (error) => error.status === "forbidden");
  observer.close();
});

test("the end of a connection rejects pending requests and calls onClosed once", async () => {
  const other = await daemon();
  let ends = 0;
  const lost = await connect(other.address, { onClosed: () => ends++ });
  const world = await lost.create("gone");
  const pending = world.step(10000);
  await Promise.all([assert.rejects(pending), other.stop()]);
  await assert.rejects(lost.list());
  assert.equal(ends, 1);
});
