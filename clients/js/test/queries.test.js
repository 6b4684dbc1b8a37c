/** Every kind of query, and every option of a subscription to a part of a world, against a real daemon. */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { Refused, areas, command, isRight, shapes } from "../src/index.js";
import { connect } from "../src/tcp.js";
import { daemon, until } from "./daemon.js";

const near = (a, b, off = 1e-9) => assert.ok(Math.abs(a - b) <= off, `${a} is not ${b}`);
const all = (a, b, off) => b.forEach((x, i) => near(a[i], x, off));

let server, client, world, floor, crate, ball, crateShape;
before(async () => {
  server = await daemon();
  client = await connect(server.address);
  // A floor at 0, a crate of 1 m on it, a ball 4 m above the floor. Gravity is 0, so that nothing falls.
  world = await client.create("queries", { gravity: [0, 0, 0] });
  crateShape = shapes.box(1, 1, 1);
  floor = await world.spawn({ status: 1, shapes: [[await world.shape(shapes.plane([0, 1, 0]))]] });
  crate = await world.spawn({ shapes: [[await world.shape(crateShape)]], position: [0, 0.5, 0] });
  ball = await world.spawn({ shapes: [[await world.shape(shapes.sphere(0.5))]], position: [0, 4, 0], velocity: [0, 0, 2] });
});
after(async () => {
  client.close();
  await server.stop();
});

test("a ray returns its hits, nearest first", async () => {
  const away = (await world.facts(ball)).position[2];
  const hits = await world.ray([0, 10, away], [0, -1, 0], 20, { limit: 8 });
  assert.deepEqual(hits.map(({ body }) => body).slice(0, 1), [ball]);
  near(hits[0].fraction, 5.5 / 20);
  all(hits[0].normal, [0, 1, 0]);
  const [first] = await world.ray([0, 10, 0], [0, -1, 0], 20, { ignore: ball });
  assert.equal(first.body, crate);
  near(first.point[1], 1);
  assert.deepEqual(await world.ray([5, 10, 0], [0, 1, 0], 20), []);
});

test("overlap takes canonical bytes, a name or its hex", async () => {
  const name = new Uint8Array(await crypto.subtle.digest("SHA-256", crateShape));
  for (const shape of [crateShape, name, Buffer.from(name).toString("hex")])
    assert.deepEqual(await world.overlap(shape, [0.2, 0.4, 0]), [floor, crate]);
  assert.deepEqual(await world.overlap(crateShape, [0, 20, 0]), []);
});

test("a sensor lists the bodies that overlap it", async () => {
  const sensing = await client.create("sensing", { gravity: [0, 0, 0] });
  const ball = [[await sensing.shape(shapes.sphere(0.5))]];
  const sensor = await sensing.spawn({ status: 1, flags: 1 | 8, shapes: ball });
  const within = await sensing.spawn({ shapes: ball, position: [0.3, 0, 0] });
  await sensing.spawn({ shapes: ball, position: [3, 0, 0] });
  await sensing.step(1);
  assert.deepEqual(await sensing.sensed(sensor), [within]);
  assert.deepEqual(await sensing.sensed(within), []);
  await assert.rejects(sensing.sensed(99), { status: "unknown_body" });
});

test("pieces are told as the fields of the commands that give them what they have", async () => {
  const pieces = await client.create("pieces", { gravity: [0, 0, 0] }), box = await pieces.shape(crateShape);
  const body = await pieces.spawn({ shapes: [[box], [box, [2, 0, 0]]] }), other = await pieces.spawn({ shapes: [[box], [box]], position: [9, 0, 0] });
  assert.deepEqual(await pieces.pieces(body), []);
  await pieces.apply(command("set_piece", { body, piece: 1, own: 1 + 8, friction: 0.2, surface_velocity: [0, 0, 3] }));
  await pieces.apply(command("set_piece", { body, piece: 0, own: 4, sensor: 1 }));
  const told = await pieces.pieces(body);
  assert.deepEqual(told.map(({ piece, own, static_friction, sensor, surface_velocity }) => [piece, own, static_friction, sensor, surface_velocity]),
    [[0, 4, 0.6, 1, [0, 0, 0]], [1, 9, 0.2, 0, [0, 0, 3]]]);
  for (const fields of told) await pieces.apply(command("set_piece", { ...fields, body: other }));
  assert.deepEqual(await pieces.pieces(other), told.map((fields) => ({ ...fields, body: other })));
  assert.deepEqual(await pieces.pieces(body, { first: 1 }), told.slice(1));
  await assert.rejects(pieces.pieces(99), { status: "unknown_body" });
});

test("stability tells what stands, what falls and how, and the margin of a tilt", async () => {
  const tower = await client.create("stability", { gravity: [0, -10, 0] });
  const box = [[await tower.shape(crateShape)]];
  await tower.spawn({ status: 1, shapes: [[await tower.shape(shapes.plane([0, 1, 0]))]] });
  await tower.spawn({ shapes: box, position: [0, 0.5, 0], mass: 2 });
  const stands = await tower.stability({ margin: "tilt" });
  assert.equal(stands.verdict, "stands");
  assert.equal(stands.forces, "settled");
  near(stands.contacts.reduce((sum, { force }) => sum + force, 0), 20, 1e-8);
  near(stands.lower, 0.6, 1e-5);
  near(stands.stands, 0.6, 1e-5);
  // A box on four corners with friction: the forces are of equally stiff contacts, and others balance as well.
  assert.deepEqual([stands.known, stands.open], ["as_found", 4]);
  assert.ok(stands.contacts.every(({ known }) => known === "as_found"));
  const top = await tower.spawn({ shapes: box, position: [0.6, 1.5, 0], mass: 2 });
  const { lowest } = await tower.stability({ lowest: true });
  assert.ok(lowest.drop > 0 && lowest.bodies.find(({ body }) => body === top).slope < -0.1);
  assert.equal(stands.lowest, undefined);
  const falls = await tower.stability();
  assert.equal(falls.verdict, "falls");
  assert.equal(falls.lower, undefined);
  assert.ok(falls.falling.find(({ body }) => body === top).acceleration[1] < -0.1);
  assert.ok(falls.contacts.some(({ breaks }) => breaks));
  await assert.rejects(tower.stability({ margin: "push", body: 99 }), { status: "unknown_body" });
});

test("methods and parameters are listed with names, abilities and former names", async () => {
  const methods = new Map((await world.methods()).map((method) => [method.name, method]));
  for (const name of ["free", "soft-step", "lcp", "projection", "reflection"]) assert.ok(methods.has(name), name);
  assert.deepEqual(methods.get("projection").names, [{ name: "velocity-projection", parameter: null, value: 0 }]);
  assert.ok(methods.get("soft-step").abilities.includes("friction"));
  const parameters = new Map((await world.parameters()).map((parameter) => [parameter.name, parameter]));
  assert.deepEqual(parameters.get("contact.push_speed").old, ["soft_step.push_speed"]);
  assert.ok(parameters.get("soft_step.substeps").whole);
  for (const { methods: readers } of parameters.values()) assert.ok(readers.every((name) => methods.has(name)));
});

test("another session sees a new parameter or method; a refused value changes nothing", async () => {
  const tuned = await client.create("tuned"), other = await connect(server.address), seen = await other.join("tuned");
  const valueOf = async (name) => (await seen.parameters()).find((parameter) => parameter.name === name).value;
  const set = (name, value) => tuned.send(command("parameter", { name, value }));
  await set("soft_step.substeps", 8);
  assert.equal(await valueOf("soft_step.substeps"), 8);
  for (const [name, value, status, field] of [["soft_step.substeps", 65, "range", "value"],
    ["soft_step.substeps", 2.5, "range", "value"], ["no.such", 1, "unknown_parameter", "name"]])
    await assert.rejects(set(name, value), (error) => error.status === status && error.field === field);
  assert.equal(await valueOf("soft_step.substeps"), 8);
  await tuned.send(command("method", { name: "lcp" }));
  await assert.rejects(tuned.send(command("method", { name: "none" })), (error) => error.status === "unknown_method");
  // The server does not notify other sessions; refresh requests the method.
  assert.equal(seen.method, "soft-step");
  let infos = 0;
  seen.onInfo = () => { infos++; };
  await seen.refresh();
  assert.deepEqual([seen.method, infos > 0], ["lcp", true]);
  other.close();
});

test("contacts carry the weight of a resting box, and regions measure an overlap", async () => {
  const heavy = await client.create("heavy");
  await heavy.spawn({ status: 1, shapes: [[await heavy.shape(shapes.plane([0, 1, 0]))]] });
  const box = await heavy.spawn({ shapes: [[await heavy.shape(crateShape)]], position: [0, 0.5, 0], density: 10 });
  await heavy.step(60);
  const contacts = await heavy.contacts(box);
  assert.equal(contacts.length, 4);
  near(contacts.reduce((sum, { impulse }) => sum + impulse, 0), (10 * 9.81) / 60, 0.02);
  assert.ok(contacts.every(({ a, b, point }) => (a === box || b === box) && Math.abs(point[1]) < 0.02));
  const found = await heavy.forces(box), least = await heavy.forces(box, { leastNorm: true });
  near(found.reduce((sum, { force }) => sum + force, 0), 10 * 9.81, 1);
  assert.ok(found.every(({ known }) => known === "as_found") && least.every(({ known }) => known === "least_norm"));
  // Four corners of a symmetric box: a quarter each.
  least.forEach(({ force }) => near(force, (10 * 9.81) / 4, 0.5));
  const other = await heavy.spawn({ shapes: [[await heavy.shape(crateShape)]], position: [0.7, 0.6, 0], status: 1 });
  const [region] = await heavy.regions(box, other);
  // 0.3 by 0.9 by 1 m, less the distance that one tick has pushed them apart.
  assert.ok(region.depth > 0 && region.volume > 0.15 && region.volume < 0.28, JSON.stringify(region));
  near(Math.hypot(...region.normal), 1);
});

test("totals, facts and mass agree with each other", async () => {
  const totals = await world.totals(), facts = await world.facts(ball), mass = await world.mass(ball);
  const weight = (1000 * 4 * Math.PI * 0.125) / 3;
  near(facts.mass, weight, 1e-6);
  near(mass.mass, weight, 1e-6);
  near(totals.kinetic, weight * 2, 1e-6);
  all(totals.linear, [0, 0, 2 * weight], 1e-6);
  near(mass.radius, 0.5);
  near(mass.moments[0], 0.4 * weight * 0.25, 1e-6);
  near((await world.mass()).mass, weight + 1000, 1e-6);
  assert.equal(facts.shapes.length, 1);
  assert.deepEqual(Buffer.from(await world.geometry(facts.shapes[0].name)), Buffer.from(shapes.sphere(0.5)));
});

test("an answer comes with its own state, while other queries are under way", async () => {
  const moving = await client.create("dated", { gravity: [0, 0, 0] }), speed = 3;
  const made = await moving.spawn({ shapes: [[await moving.shape(crateShape)]], velocity: [speed, 0, 0] });
  // Answers of other ticks arrive before they are looked at: each must have the tick at which the body was where it says.
  const asked = [];
  for (let turn = 0; turn < 20; turn++) {
    asked.push(moving.dated((queries) => queries.facts(made)));
    await moving.step(1);
  }
  const dated = await Promise.all(asked);
  for (const { answer, epoch, tick } of dated) {
    assert.equal(epoch, moving.epoch);
    near(answer.position[0], (speed * tick) / moving.rate, 1e-9);
  }
  assert.equal(new Set(dated.map(({ tick }) => tick)).size, 20);
  await assert.rejects(moving.dated((queries) => queries.facts(99)), { status: "unknown_body" });
});

test("a cast stops where the shape touches", async () => {
  const [hit] = await world.cast(shapes.sphere(0.25), [0, 3, 0], [0, -10, 0]);
  assert.equal(hit.body, crate);
  near(hit.fraction, (3 - 1.25) / 10, 1e-4);
});

test("closest returns distance and sides, or null out of reach", async () => {
  const found = await world.closest(ball, floor);
  near(found.distance, 3.5, 1e-6);
  assert.deepEqual(found.sides.map(({ body }) => body), [ball, floor]);
  all(found.normal, [0, -1, 0], 1e-6);
  assert.equal(await world.closest(ball, crate, 0.01), null);
});

test("a character moved into the floor slides along it and is grounded", async () => {
  const moved = await world.move(shapes.sphere(0.25), [5, 0.3, 0], [1, -0.5, 0]);
  assert.equal(moved.grounded, true);
  assert.equal(moved.ground.body, floor);
  near(moved.position[1], 0.25, 0.01);
  assert.ok(moved.position[0] > 5.5 && moved.iterations >= 1 && moved.contacts.length > 0);
});

test("a query about an unknown body, with direction 0 or of wrong bytes is refused", async () => {
  await assert.rejects(world.facts(999), (error) => error instanceof Refused && error.status === "unknown_body");
  await assert.rejects(world.ray([0, 0, 0], [0, 0, 0], 1), Refused);
  await assert.rejects(world.cast(Uint8Array.of(9, 9), [0, 0, 0], [1, 0, 0]), Refused);
});

test("colours are told of more bodies than a page has runs", async () => {
  const bright = await client.create("bright", { gravity: [0, 0, 0] }), ids = [];
  const spawn = () => command("spawn", { status: 2, position: [0, 0, 0] });
  for (let page = 0; page < 3; page++) ids.push(...(await bright.apply(...Array.from({ length: 500 }, spawn))).values);
  for (let page = 0; page < 3; page++)
    await bright.apply(...ids.slice(page * 500, page * 500 + 500).map((body) => command("set_colour", { body, colour: body * 7 })));
  await bright.apply(command("set_colour", { body: ids[3], colour: 0, given: 0 }));
  const colours = await bright.colours();
  assert.equal(colours.size, 1499);
  for (const id of ids) assert.equal(colours.get(id), id === ids[3] ? undefined : id * 7);
});

test("names are told of more bodies than a page holds, and those of joints by themselves", async () => {
  const named = await client.create("named", { gravity: [0, 0, 0] }), BODIES = 1500, ids = [];
  for (let page = 0; page < 3; page++)
    ids.push(...(await named.apply(...Array.from({ length: BODIES / 3 }, () => command("spawn", { status: 2, position: [0, 0, 0] })))).values);
  for (let page = 0; page < 3; page++)
    await named.apply(...ids.slice(page * BODIES / 3, (page + 1) * BODIES / 3).map((body) => command("name_body", { body, name: `body ${body}` })));
  await named.apply(command("joint_create", { type: "spherical", body_a: ids[0], body_b: ids[1] }), command("name_joint", { joint: -1, name: "neck" }));
  const names = await named.names();
  assert.equal(names.size, BODIES);
  for (const id of ids) assert.equal(names.get(id), `body ${id}`);
  assert.deepEqual([...await named.jointNames()], [[1, "neck"]]);
});

test("visuals are told of more bodies than a page holds, and are those that commands made", async () => {
  const shown = await client.create("shown", { gravity: [0, 0, 0] }), BODIES = 150;
  const ball = await shown.shape(shapes.sphere(0.5));
  const ids = (await shown.apply(...Array.from({ length: BODIES }, () => command("spawn", { status: 2, position: [0, 0, 0] })))).values;
  assert.equal((await shown.visuals()).size, 0);
  await shown.apply(...ids.map((body, i) => command("add_visual", { body, shape: ball, position: [i, 0, 0], ...(i % 2 ? { colour: i, given: 1 } : {}) })));
  await shown.apply(command("add_visual", { body: ids[7], shape: ball, rotation: [0, 2, 0, 0] }), command("clear_visuals", { body: ids[9] }));
  const visuals = await shown.visuals();
  assert.equal(visuals.size, BODIES - 1);
  assert.equal(visuals.get(ids[9]), undefined);
  for (const [i, id] of ids.entries()) if (i !== 9) {
    const [first, ...more] = visuals.get(id);
    assert.deepEqual(first.position, [i, 0, 0]);
    assert.equal(first.colour, i % 2 ? i : null);
    assert.equal(more.length, i === 7 ? 1 : 0);
  }
  assert.deepEqual(visuals.get(ids[7])[1].rotation, [0, 1, 0, 0]);
  assert.deepEqual(shapes.describe(await shown.geometry(visuals.get(ids[0])[0].shape)).kind, "sphere");
});

test("a subscription is limited by areas, followed bodies, columns and divisor", async () => {
  const wide = await client.create("wide", { gravity: [0, 0, 0] }), shape = await wide.shape(shapes.sphere(0.1));
  const ids = [];
  for (let x = 0; x < 10; x++) ids.push(await wide.spawn({ shapes: [[shape]], position: [x * 10, 0, 0], velocity: [0, 0, 1] }));
  const seen = async (options) => [...(await wide.subscribe(options)).mirror.slots.keys()];
  assert.deepEqual(await seen({ areas: [areas.box([-1, -1, -1], [21, 1, 1])] }), ids.slice(0, 3));
  assert.deepEqual(await seen({ areas: [areas.ball([50, 0, 0], 2)], follow: [ids[9]] }), [ids[5], ids[9]]);
  assert.deepEqual(await seen({ areas: [areas.frustum([35, 0, 20], [1, 0, 0, 0], 0.4, 0.4, 1, 50)] }), [ids[3], ids[4]]);
  assert.deepEqual(await seen({ areas: [areas.ball([0, 0, 0], 11, ids[4])] }), ids.slice(3, 6));
  assert.equal((await seen({ areas: [areas.everything()] })).length, 10);
  const ticks = [];
  const { mirror } = await wide.subscribe({ fields: ["position", "owner"], divisor: 5, onFrame: ({ tick }) => ticks.push(tick) });
  assert.equal(mirror.velocity, undefined);
  // In one request: a world that waits for the next one shows its state, whatever the divisor.
  await wide.step(20);
  await client.ping();
  assert.ok(ticks.length >= 4 && ticks.length <= 6, `${ticks}`);
  await assert.rejects(wide.subscribe({ fields: ["weight"] }), /no column weight/);
});

test("a budget limits the bytes per second, and delayed bodies arrive after a pause", async () => {
  const many = await client.create("many", { gravity: [0, 0, 0], rate: 60 }), shape = await many.shape(shapes.sphere(0.1));
  const spawn = (i) => many.spawn({ shapes: [[shape]], position: [i, 0, 0], velocity: [0, 0, 1] });
  for (let i = 0; i < 60; i++) await spawn(i);
  let bytes = 0, partial = 0;
  const { mirror } = await many.subscribe({ budget: 2000, hash_every: 1, onFrame: (m, size) => {
    bytes += size;
    partial += m.partial;
  } });
  const before = bytes;
  await many.control("resume");
  const started = performance.now();
  await until(() => partial > 0 && performance.now() - started > 1500, "a frame that is cut");
  const seconds = (performance.now() - started) / 1000;
  assert.ok((bytes - before) / seconds < 4000, `${((bytes - before) / seconds).toFixed(0)} bytes a second`);
  await many.control("pause");
  await until(() => !mirror.partial, "the delayed bodies");
  assert.equal(mirror.count, 60);
  assert.equal(isRight(mirror), true);
});
