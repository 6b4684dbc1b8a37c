/** The client against the test vectors that every implementation of the wire shares (tests/data/wire). */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { Decoder } from "@msgpack/msgpack";
import { isRight, xxh3 } from "../src/hash.js";
import { COLUMN, MESSAGE } from "../src/manifest.js";
import { Mirror, PROFILE } from "../src/mirror.js";
import { Splitter, decode, encode, frame } from "../src/wire.js";

const vectors = (name) =>
  JSON.parse(readFileSync(`${process.env.CAIRN_SRCDIR}/tests/data/wire/${name}.json`, "utf8"));
const bytesOf = (hex) => Uint8Array.from(hex.match(/../g) ?? [], (pair) => parseInt(pair, 16));
const contentOf = (hex) => [...new Splitter().take(bytesOf(hex))][0];

/** A decoded value in the form of the vectors: bytes as {"bin": hex}. */
function plain(value) {
  if (value instanceof Uint8Array) return { bin: Buffer.from(value).toString("hex") };
  if (Array.isArray(value)) return value.map(plain);
  if (value !== null && typeof value === "object")
    return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, plain(item)]));
  return value;
}

test("every message of the vectors decodes to its fields", () => {
  let seen = 0;
  for (const vector of vectors("messages")) {
    const content = contentOf(vector.frame);
    assert.deepEqual(plain(new Decoder().decode(content)), vector.content, vector.name);
    const message = decode(content);
    const [name, { map, fields }] = Object.entries(MESSAGE).find(([, m]) => m.number === vector.content[0]);
    assert.equal(message.type, name);
    fields.forEach(([field], i) => {
      const meant = map ? vector.content[1][field] : vector.content[i + 1];
      if (meant !== undefined) assert.deepEqual(plain(message[field]), meant, `${vector.name} ${field}`);
    });
    seen++;
  }
  assert.ok(seen > 50);
});

test("a message of a client, decoded and encoded, decodes to the same fields", () => {
  for (const vector of vectors("messages").filter((v) => v.from !== "server")) {
    const { type, ...fields } = decode(contentOf(vector.frame));
    const again = decode(encode(type, fields));
    assert.deepEqual(again, { type, ...fields }, vector.name);
  }
});

test("a stream in pieces of any size splits into the same frames", () => {
  const contents = vectors("messages").slice(0, 12).map((v) => contentOf(v.frame));
  const stream = Buffer.concat(contents.map(frame));
  for (const size of [1, 2, 3, 5, 7, 64, 1000, stream.length]) {
    const splitter = new Splitter(), found = [];
    for (let at = 0; at < stream.length; at += size)
      for (const content of splitter.take(stream.subarray(at, at + size))) found.push(content.slice());
    assert.deepEqual(found.map((c) => Buffer.from(c)), contents.map((c) => Buffer.from(c)));
  }
});

test("a stream of another protocol is refused at its first byte", () => {
  assert.throws(() => [...new Splitter().take(Buffer.from("HTTP/1.1 400"))], /another protocol/);
  assert.throws(() => [...new Splitter().take(Uint8Array.of(0xc6, 0xff, 0, 0, 0))], /at most 1048576/);
});

/** Contacts of a vector with the field names of this client. */
const contactsOf = ({ contacts }) => contacts.map(({ other_child: otherChild, ...rest }) => ({ ...rest, otherChild }));

test("in profiles plain and exact a mirror has the values of the vectors' frames", () => {
  const { bodies, tick, frames } = vectors("bodies");
  let seen = 0;
  for (const { profile, fields, snapshot } of frames) {
    if (profile === "view" || profile === "sim") continue;
    const mirror = new Mirror(fields, PROFILE[profile]);
    assert.equal(mirror.take(decode(contentOf(snapshot.frame))), true);
    assert.equal(mirror.tick, tick);
    assert.equal(mirror.count, bodies.length);
    for (const meant of bodies) {
      const body = mirror.body(meant.id);
      for (const name of ["position", "rotation", "velocity", "spin"])
        if (fields & COLUMN[name]) assert.deepEqual(body[name], meant[name], name);
      if (fields & COLUMN.status) assert.equal(body.asleep, (meant.flags & 1) !== 0);
      if (fields & COLUMN.owner) assert.deepEqual([body.owner, body.tag], [meant.owner, meant.tag]);
      if (fields & COLUMN.shapes)
        assert.deepEqual(body.shapes,
          meant.shapes.map(({ name, position, rotation }) => ({ shape: name, position, rotation })));
      if (fields & COLUMN.contacts) assert.deepEqual(body.contacts, contactsOf(meant));
    }
    seen++;
  }
  assert.ok(seen > 1);
});

test("in profiles view and sim a mirror has the server's whole steps", () => {
  const { bodies, frames } = vectors("bodies");
  const UNIT = { view: { length: 512, speed: 128, turn: 0.0097 }, sim: { length: 4096, speed: 1024, turn: 0.00015 } };
  let seen = 0;
  for (const { profile, fields, snapshot, delta } of frames.filter((f) => f.profile in UNIT)) {
    const mirror = new Mirror(fields, PROFILE[profile]), unit = UNIT[profile];
    for (const frame of [snapshot, delta]) {
      assert.equal(mirror.take(decode(contentOf(frame.frame))), true);
      assert.equal(mirror.count, frame.steps.length);
      for (const meant of frame.steps) {
        const at = mirror.slots.get(meant.id) * 4;
        for (const name of ["position", "velocity", "spin"])
          if (fields & COLUMN[name]) assert.deepEqual([...mirror.steps[name].subarray(at, at + 3)], meant[name], name);
        if (fields & COLUMN.rotation)
          assert.deepEqual([...mirror.steps.rotation.subarray(at, at + 4)], [meant.largest, ...meant.rotation]);
        if (fields & COLUMN.contacts) assert.deepEqual(mirror.body(meant.id).contacts, contactsOf(meant));
        seen++;
      }
      if (frame !== snapshot) continue;
      // The values are within half a step of the server's (docs/PROTOCOL.md, "state").
      for (const meant of bodies) {
        const body = mirror.body(meant.id);
        const near = (name, step) => body[name].forEach((x, i) => assert.ok(Math.abs(x - meant[name][i]) <= 0.5 / step));
        if (fields & COLUMN.position) near("position", unit.length);
        if (fields & COLUMN.velocity) near("velocity", unit.speed);
        if (fields & COLUMN.spin) near("spin", unit.speed);
        if (fields & COLUMN.rotation) {
          const dot = Math.abs(body.rotation.reduce((sum, x, i) => sum + x * meant.rotation[i], 0));
          assert.ok(2 * Math.acos(Math.min(dot, 1)) <= unit.turn);
        }
      }
    }
  }
  assert.ok(seen > 12);
});

test("XXH3 equals that of libxxhash for every range of lengths", () => {
  const bytes = Uint8Array.from({ length: 5000 }, (_, i) => i * i * 7 + i * 3 + 1), view = new DataView(bytes.buffer);
  // Computed by XXH3_64bits of libxxhash 0.8.
  for (const [length, meant] of Object.entries({
    0: "2d06800538d394c2", 1: "e12ef9d2eb86ceeb", 2: "7637ba5b2c85d7ce", 3: "35488fe719dc1021", 4: "26203d6789a9cf24",
    5: "2752b440691b57b8", 8: "83ed104630ad987d", 9: "f65936fd5fbbb6ba", 16: "af8cc67768149561", 17: "c3d904afc08445b8",
    28: "e27c87994c0b3cec", 32: "d2f4be29d966bb52", 33: "0299b5dd21d160a6", 64: "57456dfb31fa9398",
    65: "bcf1143fa7ba55d6", 96: "8e470a4a42efe753", 97: "5eda7c1054bbbe87", 109: "972673d4e8aebc3c",
    128: "0ba2552c334a2c90", 129: "cb8dcdd37cea0bd5", 177: "c8511c2c8d840727", 240: "4fe0949fa7ed254c",
    241: "7a44fe8d013626bf", 1023: "4fe23c2b386857b0", 1024: "5365687a61dc04af", 1025: "0ede97ab153d6aa2",
    2048: "2691a74cc5274f1e", 2049: "45af0ab8b11fd8b0", 5000: "29926ffea3a4e591",
  })) assert.equal(xxh3(view, Number(length)).toString(16).padStart(16, "0"), meant, `${length} bytes`);
});

test("a mirror of each profile has the server's hash, and a mirror at another tick has not", () => {
  let seen = 0;
  for (const { profile, fields, snapshot, delta } of vectors("bodies").frames) {
    const mirror = new Mirror(fields, PROFILE[profile]);
    for (const frame of [snapshot, delta]) {
      mirror.take(decode(contentOf(frame.frame)));
      assert.equal(isRight(mirror), true, `${profile} ${fields}`);
      seen++;
    }
    mirror.tick++;
    assert.equal(isRight(mirror), false);
  }
  assert.ok(seen > 12);
});

test("a delta on another tick or epoch, or a row of an unknown body, is refused", () => {
  const mirror = new Mirror(COLUMN.position, PROFILE.plain);
  const snapshot = { type: "snapshot", epoch: 1, tick: 5, part: 0, of: 1, columns: [[1, 0, 0, 0]] };
  mirror.take(snapshot);
  const delta = { type: "delta", epoch: 1, tick: 7, base: 5, part: 0, of: 1, created: [], removed: [], columns: [] };
  assert.throws(() => mirror.take({ ...delta, base: 4 }), /on tick 4/);
  assert.throws(() => mirror.take({ ...delta, epoch: 2 }), /does not fit/);
  assert.throws(() => mirror.take({ ...delta, columns: [[9, 0, 0, 0]] }), /row changes body 9, which the mirror does not have/);
  // After an error the mirror refuses deltas until a snapshot.
  assert.throws(() => mirror.take(delta), /on tick 5/);
  assert.equal(mirror.whole, false);
  mirror.take(snapshot);
  assert.throws(() => mirror.take({ ...delta, removed: [9] }), /removes body 9, which the mirror does not have/);
  mirror.take(snapshot);
  assert.equal(mirror.take({ ...delta, created: [2], removed: [1], columns: [[2, 1, 2, 3]] }), true);
  assert.deepEqual(mirror.body(2).position, [1, 2, 3]);
  assert.equal(mirror.body(1), null);
});

test("slots of removed bodies are reused, and other bodies keep their slots", () => {
  const mirror = new Mirror(COLUMN.position, PROFILE.plain);
  const ids = Array.from({ length: 1000 }, (_, i) => i + 1);
  mirror.take({ type: "snapshot", epoch: 1, tick: 0, part: 0, of: 1, columns: ids.map((id) => [id, id, 0, 0]) });
  const before = new Map(mirror.slots), capacity = mirror.capacity;
  const removed = ids.filter((id) => id % 3 === 0), created = removed.map((id) => id + 1000);
  mirror.take({ type: "delta", epoch: 1, tick: 1, base: 0, part: 0, of: 1, created, removed,
    columns: created.map((id) => [id, id, 0, 0]) });
  assert.equal(mirror.capacity, capacity);
  assert.equal(mirror.end, 1000);
  for (const [id, slot] of mirror.slots) {
    if (id <= 1000) assert.equal(slot, before.get(id));
    assert.equal(mirror.position[slot * 3], id);
  }
});

test("a missing or unknown field of a message is a TypeError that names it", () => {
  assert.throws(() => encode("ack", { sub: 1, epoch: 1 }), /ack needs tick/);
  assert.throws(() => encode("ack", { sub: 1, epoch: 1, tick: 1, more: 1 }), /no field more/);
});
