/** Joints of subscriptions in every profile, with their hashes; queries about joints; commands with words. */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { JOINT_TYPES, PROFILE, command, isRight, jointsHash, shapes } from "../src/index.js";
import { connect } from "../src/tcp.js";
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

/** Two spheres joined by a hinge, and one 40 m away. */
async function pair(name) {
  const world = await client.create(name, { gravity: [0, 0, 0] }), ball = await world.shape(shapes.sphere(0.5));
  for (const x of [0, 3, 40]) await world.spawn({ shapes: [[ball]], position: [x, 0, 0] });
  const made = await world.apply(command("joint_create",
    { type: 2, body_a: 1, body_b: 2, point_a: [1.5, 0, 0], place: 1, tag: 7 }));
  return { world, hinge: made.values[0] };
}

/** The mirror after `act`, once it has the frame of the world's tick. */
async function frameAfter(subscription, world, act) {
  await act();
  await until(() => subscription.mirror.whole && subscription.mirror.tick === world.tick, "the frame of the world's tick");
  return subscription.mirror;
}

for (const profile of Object.keys(PROFILE))
  test(`a mirror of profile ${profile} follows the creation, change and removal of a joint`, async () => {
    const { world, hinge } = await pair(`joints-${profile}`);
    const seen = await world.subscribe({ profile: PROFILE[profile], joints: true });
    const mirror = await frameAfter(seen, world, () => world.step(0));
    const shown = mirror.joints.items.get(hinge);
    assert.deepEqual([shown.type, shown.a, shown.b, shown.passes, shown.tag], ["revolute", 1, 2, true, 7]);
    assert.deepEqual([shown.pointA, shown.pointB], [[1.5, 0, 0], [-1.5, 0, 0]]);
    assert.equal(isRight(mirror), true);
    await frameAfter(seen, world, () => world.step(3, [command("joint_set", { joint: hinge, tag: 8, break_force: 1e8 }),
      command("impulse", { body: 1, impulse: [0, 900, 0] })]));
    assert.equal(mirror.joints.items.get(hinge).tag, 8);
    assert.equal(shown.tag, 7, "an object that the caller stored does not change");
    assert.ok(mirror.joints.hash !== null && isRight(mirror));
    mirror.joints.items.get(hinge).tag++;
    assert.equal(isRight(mirror), false);
    mirror.joints.items.get(hinge).tag--;
    await frameAfter(seen, world, () => world.step(1, [command("remove", { body: 2 })]));
    assert.deepEqual([mirror.joints.items.size, mirror.joints.removed], [0, [hinge]]);
    assert.equal(jointsHash(mirror), Buffer.from(mirror.joints.hash).readBigUInt64BE());
  });

test("a subscription has the joints of its bodies only, with the columns named", async () => {
  const { world, hinge } = await pair("part");
  const near = await world.subscribe({ joints: ["bodies", "owner"], follow: [2] });
  const far = await world.subscribe({ joints: true, follow: [3] });
  const none = await world.subscribe();
  for (const seen of [near, far, none]) await frameAfter(seen, world, () => {});
  assert.deepEqual(near.mirror.joints.items.get(hinge),
    { id: hinge, type: "revolute", passes: true, asleep: false, a: 1, b: 2, owner: 0, tag: 7 });
  assert.deepEqual([far.mirror.joints.items.size, none.mirror.joints.items.size], [0, 0]);
  world.focus(near, { follow: [3] });
  await frameAfter(near, world, () => world.step(1));
  assert.equal(near.mirror.joints.items.size, 0);
  await assert.rejects(world.subscribe({ joints: 64 }), (error) => error.field === "joints");
  await assert.rejects(world.subscribe({ joints: ["speed"] }), /speed/);
});

test("a joint that breaks sends an event and leaves the mirror", async () => {
  const world = await client.create("breaks"), ball = await world.shape(shapes.sphere(0.5)), heard = [];
  await world.spawn({ shapes: [[ball]], position: [0, 5, 0], mass: 10 });
  const made = await world.apply(command("joint_create",
    { type: 1, body_a: 0, body_b: 1, point_a: [0, 6, 0], place: 1, break_force: 20 }));
  const seen = await world.subscribe({ joints: true, events: 2 ** 9, onEvents: (_, events) => heard.push(...events) });
  await frameAfter(seen, world, () => world.step(5));
  await until(() => heard.length > 0, "an event");
  const [{ kind, a, b, childA, value }] = heard;
  assert.deepEqual([kind, a, b, childA, seen.mirror.joints.items.size], ["joint_break", 0, 1, made.values[0], 0]);
  assert.ok(value > 1);
});

test("queries return joints, their axes and linked bodies", async () => {
  const { world, hinge } = await pair("queries");
  await world.apply(command("joint_axis", {
    joint: hinge, axis: 3, mode: "limited", lower: -1, upper: 1, motor: "velocity", target: 0.5,
  }));
  await world.apply(command("joint_create", { type: "spherical", body_a: 0, body_b: 3, point_a: [40, 1, 0], place: 1 }));
  const all = await world.joints();
  assert.deepEqual(all.map(({ type, a, b }) => [type, a, b]), [["revolute", 1, 2], ["spherical", 0, 3]]);
  assert.deepEqual(all[0].anchorA, [1.5, 0, 0]);
  assert.deepEqual((await world.joints(3)).map(({ type }) => type), ["spherical"]);
  const { axes, breakForce } = await world.joint(hinge);
  assert.deepEqual([axes[3].mode, axes[3].lower, axes[3].upper, axes[3].motor, axes[3].target, axes[3].wave, breakForce],
    ["limited", -1, 1, "velocity", 0.5, "constant", 0]);
  assert.deepEqual([await world.linked(2), await world.linked(3)], [[1, 2], [3]]);
  await assert.rejects(world.joint(99), /unknown_joint/);
  await assert.rejects(world.linked(99), /unknown_body/);
});

test("a field with words takes them or their numbers, and refuses other words", () => {
  const hinge = { body_a: 1, body_b: 2 };
  JOINT_TYPES.forEach((type, number) => {
    if (type !== "") assert.deepEqual(command("joint_create", { ...hinge, type }), command("joint_create", { ...hinge, type: number }));
  });
  assert.deepEqual(command("spawn", { status: "static", position: [0, 0, 0] })[1], 1);
  assert.deepEqual(command("joint_axis", { joint: 1, axis: 0, mode: "limited", spring: "hertz", motor: "position", wave: "sine" }),
    command("joint_axis", { joint: 1, axis: 0, mode: 2, spring: 2, motor: 2, wave: 1 }));
  for (const type of ["hinge", "", "2"])
    assert.throws(() => command("joint_create", { ...hinge, type }), { name: "TypeError",
      message: `joint_create has no type "${type}": it is one of ${JOINT_TYPES.slice(1).join(", ")}` });
  // A field without words takes any text.
  assert.deepEqual(command("method", { name: "static" }), [32, "static"]);
});

test("a robot's mass matrix gives its kinetic energy, and its Jacobian the velocity of a point", async () => {
  const { world } = await pair("robot");
  await world.step(1, [command("impulse", { body: 1, impulse: [10, 300, -40] })]);
  await world.step(20);
  const { links, q, rates, accelerations, bias, closureRows, residual, regular } = await world.robot(1);
  assert.deepEqual(links.map(({ body, parent, kind, axes }) => [body, parent, kind, axes.length]), [[1, 0, "base", 6], [2, 1, "axes", 1]]);
  assert.deepEqual([q.length, rates.length, accelerations.length, bias.length, closureRows, regular], [8, 7, 7, 7, 0, true]);
  assert.ok(residual < 1e-9);
  const { axes, lower } = await world.inertia(2), entry = (i, k) => (i < k ? entry(k, i) : lower[(i * (i + 1)) / 2 + k]);
  const { kinetic } = await world.totals();
  let twice = 0;
  for (let i = 0; i < axes; i++) for (let k = 0; k < axes; k++) twice += rates[i] * entry(i, k) * rates[k];
  assert.ok(Math.abs(twice / 2 - kinetic) < 1e-9 * kinetic, `${twice / 2} and ${kinetic} J`);
  // Without forces M q'' = −b.
  for (let i = 0; i < axes; i++) {
    let sum = bias[i];
    for (let k = 0; k < axes; k++) sum += entry(i, k) * accelerations[k];
    assert.ok(Math.abs(sum) < 1e-6 * kinetic, `${sum} of row ${i}`);
  }
  const seen = await world.subscribe({ profile: PROFILE.exact }), mirror = await frameAfter(seen, world, () => world.step(0));
  const { position, velocity, spin } = mirror.body(2);
  const rows = await world.jacobian(2, position), speeds = rows.map((row) => row.reduce((sum, value, k) => sum + value * rates[k], 0));
  [...velocity, ...spin].forEach((value, i) => assert.ok(Math.abs(speeds[i] - value) < 1e-3, `${speeds} of ${[...velocity, ...spin]}`));
  await assert.rejects(world.jacobian(2, [NaN, 0, 0]));
  // tau = M q'' + b, and back.
  const wanted = rates.map((rate, i) => Math.sin(i + 1)), [forces] = await world.inverseDynamics([2], wanted), [back] = await world.forwardDynamics([2], forces.values);
  forces.values.forEach((force, i) => {
    let sum = bias[i];
    for (let k = 0; k < axes; k++) sum += entry(i, k) * wanted[k];
    assert.ok(Math.abs(sum - force) < 1e-9 * (1 + kinetic), `${sum} and ${force} of axis ${i}`);
    assert.ok(Math.abs(back.values[i] - wanted[i]) < 1e-8);
  });
  assert.deepEqual([forces.closureRows, back.regular, (await world.inverseDynamics([1, 2], [], { still: true })).length], [0, true, 2]);
  await assert.rejects(world.forwardDynamics([2], [NaN]));
});
