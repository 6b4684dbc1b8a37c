/** Sessions that outlive their connections, against real daemons behind a relay that cuts the connections. */
import assert from "node:assert/strict";
import net from "node:net";
import { after, before, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { ALL, ALL_EVENTS, Closed, PROFILE, areas, command, encode, isRight, shapes, tickHash } from "../src/index.js";
import { mayFollow } from "../src/client.js";
import { connect } from "../src/tcp.js";
import { frame } from "../src/wire.js";
import { daemon, relay, until } from "./daemon.js";

const SECOND = 1000;

let server, keeper;
before(async () => {
  server = await daemon();
  keeper = await connect(server.address);
});
after(async () => {
  keeper.close();
  await server.stop();
});

let worlds = 0;
/** A running world with a floor and some boxes that fall on it, made by `keeper`. */
async function tumbling() {
  const world = await keeper.create(`resumed${++worlds}`, { seed: worlds });
  await world.spawn({ status: 1, shapes: [[await world.shape(shapes.plane([0, 1, 0]))]] });
  const crate = await world.shape(shapes.box(0.5, 0.3, 0.4));
  const bodies = [];
  for (let i = 0; i < 20; i++)
    bodies.push(await world.spawn({ shapes: [[crate]], position: [i % 3, 1 + i / 2, 0], angular_velocity: [3, 1, i % 5] }));
  await world.control("resume");
  return { world, bodies };
}

/** A client behind a private relay, which can cut its connection. */
async function behind(options = {}) {
  const front = await relay(server.address);
  const ends = [];
  let lost;
  const client = await connect(front.address, {
    resumes: true,
    ...options,
    onClosed: (error) => {
      ends.push(error);
      lost?.(error);
    },
  });
  return {
    relay: front, client, ends,
    /** Cuts the connection and waits until the client has noticed. */
    cut: () => new Promise((resolve) => {
      lost = resolve;
      front.cut();
    }),
    close: () => {
      client.close();
      front.close();
    },
  };
}

for (const name of ["view", "sim", "exact"])
  test(`after a resume, deltas continue and a mirror of profile ${name} has the server's hash`, async () => {
    const { world } = await tumbling();
    const one = await behind();
    const seen = await one.client.join(world.name), { session } = one.client;
    const heard = [];
    const subscription = await seen.subscribe({ fields: ALL, profile: PROFILE[name] });
    const { mirror } = subscription;
    const take = mirror.take.bind(mirror);
    mirror.take = (message) => {
      if (message.part === 0) heard.push(message.type);
      return take(message);
    };
    const tokens = new Set();
    for (let turn = 0; turn < 3; turn++) {
      await sleep(100);
      tokens.add(Buffer.from(one.client.welcome.resume_token).toString("hex"));
      await one.cut();
      assert.equal(one.client.connected, false);
      await sleep(100);
      await one.client.resume();
      const { tick } = mirror;
      await until(() => mirror.tick > tick + 3, "frames come again");
      assert.equal(isRight(mirror), true);
    }
    assert.equal(one.client.session, session);
    assert.equal(tokens.size, 3, "each token is used once");
    assert.deepEqual([...new Set(heard)], ["delta"]);
    assert.equal(one.ends.length, 3);
    // In a paused world the mirror has the server's hash; in profile exact it also has the world's tick hash.
    await world.control("pause");
    const { tick } = await world.step(1);
    await until(() => mirror.tick === tick, "the last frame comes");
    assert.equal(isRight(mirror), true);
    if (name === "exact") {
      const { tickHash: expected } = await world.step(1);
      await until(() => mirror.tick === tick + 1, "the very last frame comes");
      assert.equal(tickHash(mirror), Buffer.from(expected).readBigUInt64BE());
    }
    one.close();
  });

test("after a resume, an incomplete mirror and a mirror of an old epoch get a snapshot", async () => {
  const { world } = await tumbling();
  const one = await behind();
  const seen = await one.client.join(world.name);
  const { mirror } = await seen.subscribe({ profile: PROFILE.sim });
  await one.cut();
  mirror.whole = false;
  await one.client.resume();
  let { tick } = mirror;
  await until(() => mirror.tick > tick + 3 && mirror.whole, "frames come again");
  assert.equal(isRight(mirror), true);
  await world.save("then");
  await one.cut();
  await world.restore("then");
  await one.client.resume();
  await until(() => mirror.epoch === world.epoch && mirror.whole, "the new epoch is shown");
  ({ tick } = mirror);
  assert.equal(isRight(mirror), true);
  one.close();
});

test("a pending batch or STEP is applied once, and no event arrives twice", async () => {
  const { world, bodies: [body] } = await tumbling();
  const one = await behind();
  const seen = await one.client.join(world.name);
  const events = [];
  const subscription = await seen.subscribe({ events: ALL_EVENTS, onEvents: (tick, list) => events.push(...list.map((e) => [tick, e])) });
  const batches = [];
  for (let turn = 0; turn < 4; turn++) {
    const pending = seen.send(command("set_tag", { body, tag: turn }));
    await one.cut();
    const meanwhile = seen.send(command("set_tag", { body, tag: 10 + turn }));
    await one.client.resume();
    batches.push((await pending).batch, (await meanwhile).batch);
    assert.equal((await seen.facts(body)).tag, 10 + turn);
  }
  assert.deepEqual(batches, [1, 2, 3, 4, 5, 6, 7, 8]);
  assert.equal(events.length, subscription.events);
  const keys = events.map(([tick, event]) => JSON.stringify([tick, event]));
  assert.equal(new Set(keys).size, keys.length);
  // A STEP is applied once too.
  await world.control("pause");
  const { tick } = await seen.dated((queries) => queries.facts(body));
  const stepping = seen.step(5);
  await one.cut();
  await one.client.resume();
  assert.equal((await stepping).tick, tick + 5);
  one.close();
});

test("the last FOCUS applies after a resume", async () => {
  const world = await keeper.create(`resumed${++worlds}`, { gravity: [0, 0, 0] });
  const ball = await world.shape(shapes.sphere(0.5));
  const near = await world.spawn({ shapes: [[ball]], position: [0, 0, 0] });
  const far = await world.spawn({ shapes: [[ball]], position: [100, 0, 0] });
  await world.control("resume");
  const one = await behind();
  const seen = await one.client.join(world.name);
  const subscription = await seen.subscribe({ areas: [areas.ball([0, 0, 0], 10)] });
  assert.deepEqual([...subscription.mirror.slots.keys()], [near]);
  const shows = (...ids) => until(() => String([...subscription.mirror.slots.keys()].sort((a, b) => a - b)) === String(ids),
    `bodies ${ids} are seen`);
  seen.focus(subscription, { areas: [areas.box([90, -1, -1], [110, 1, 1])] });
  await shows(far);
  await one.cut();
  await one.client.resume();
  seen.focus(subscription, { areas: [areas.frustum([0, 0, 20], [1, 0, 0, 0], 0.5, 0.5, 1, 50)], follow: [far] });
  await shows(near, far);
  seen.focus(subscription);
  await shows(near, far);
  assert.equal(subscription.mirror.count, 2);
  const refused = new Promise((resolve) => { subscription.onRefused = resolve; });
  seen.focus(subscription, { areas: [[2, [0, 0, 0, -1], 0]] });
  assert.match((await refused).status, /range|malformed|type/);
  one.close();
});

test("resume of an ended session is refused as expired, and rejoin subscribes to the same world", async () => {
  const { world } = await tumbling();
  const one = await behind();
  const seen = await one.client.join(world.name), { session } = one.client;
  const subscription = await seen.subscribe({ profile: PROFILE.sim });
  const pending = assert.rejects(new Promise((resolve, reject) => {
    // A batch sent after the cut gets no answer.
    one.cut().then(() => seen.send(command("gravity", { gravity: [0, -1, 0] }))).then(resolve, reject);
  }), Closed);
  await until(() => !one.client.connected, "it is lost");
  one.client.welcome.resume_token.fill(7);
  await assert.rejects(one.client.resume(), (error) => error.status === "expired");
  assert.deepEqual(await one.client.rejoin(), []);
  await pending;
  assert.notEqual(one.client.session, session);
  const { mirror } = subscription;
  const { tick } = mirror;
  await until(() => mirror.tick > tick + 3, "frames come again");
  assert.equal(isRight(mirror), true);
  assert.ok((await seen.send(command("gravity", { gravity: [0, -9.81, 0] }))).batch === 1);
  one.close();
});

test("with reconnects the client resumes by itself, or joins with a new session", async () => {
  const { world } = await tumbling();
  const backs = [];
  const one = await behind({ reconnects: { firstWait: 50 }, onBack: (how) => backs.push(how) });
  const seen = await one.client.join(world.name);
  const subscription = await seen.subscribe({ profile: PROFILE.sim });
  one.relay.refuse(true);
  await one.cut();
  await sleep(300);
  assert.equal(one.client.connected, false);
  one.relay.refuse(false);
  await until(() => backs.length === 1, "it is back");
  one.client.welcome.resume_token.fill(7);
  await one.cut();
  await until(() => backs.length === 2, "it is back again");
  assert.deepEqual(backs, ["resumed", "joined"]);
  const { tick } = subscription.mirror;
  await until(() => subscription.mirror.tick > tick + 3, "frames come again");
  // After close the client does not reconnect.
  one.client.close();
  await until(() => one.relay.connections() === 0, "the end of the connection");
  await sleep(200);
  assert.equal(one.relay.connections(), 0);
  assert.equal(backs.length, 2);
  one.relay.close();
});

test("a draining server redirects its clients, and they reconnect to the other server", async () => {
  const [old, next] = [await daemon("--listen", "tcp:127.0.0.1:0"), await daemon("--listen", "tcp:127.0.0.1:0")];
  const [from, to] = await Promise.all([old, next].map((d) => d.logged(/listening address=(tcp:\S+)/)));
  for (const d of [old, next]) {
    const maker = await connect(d.address);
    await maker.create("arena", { running: true });
    maker.close();
  }
  let back;
  const came = new Promise((resolve) => { back = resolve; });
  const client = await connect(from, { reconnects: { firstWait: 50 }, onBack: (how) => back(how) });
  const world = await client.join("arena");
  const subscription = await world.subscribe();
  const admin = await connect(old.address);
  admin.request("drain", { redirect: to }, "reply").catch(() => {});
  assert.equal(await came, "joined");
  assert.equal(client.address, to);
  const { tick } = subscription.mirror;
  await until(() => subscription.mirror.tick > tick, "frames come from the other one");
  client.close();
  await next.stop();
  await old.stop();
});

test("redirects in a circle end after 4, and none from wss: to ws: is followed", async () => {
  let hellos = 0;
  const circle = net.createServer((socket) => {
    socket.once("data", () => {
      hellos++;
      socket.end(frame(encode("goodbye", { code: 26, retry_ms: 0, redirect: address, text: "go on" })));
    });
    socket.on("error", () => {});
  });
  await new Promise((resolve) => { circle.listen(0, "127.0.0.1", resolve); });
  const address = `tcp:127.0.0.1:${circle.address().port}`;
  await assert.rejects(connect(address), /more than 4 redirects/);
  assert.equal(hellos, 5);
  circle.close();
  for (const [from, to, may] of [["ws://a/ws", "wss://b/ws", true], ["wss://a/ws", "ws://b/ws", false],
    ["ws://a/ws", "tcp:b:1", false], ["a:1", "tcp:b:1", true], ["unix:/a", "unix:/b", true], ["tcp:a:1", "unix:/b", false],
    ["tcp:a:1", "", false]])
    assert.equal(mayFollow(from, to), may, `${from} to ${to}`);
});
