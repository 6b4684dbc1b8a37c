/** The recorded streams that the tests of every client read (tests/data/wire/streams.json): after each frame, of any kind,
 * the mirror has the recorded state of the world. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { isRight, jointsHash } from "../src/hash.js";
import { JOINT_TYPES } from "../src/joints.js";
import { Mirror, PROFILE, STATUSES } from "../src/mirror.js";
import { Splitter, decode } from "../src/wire.js";

const STREAMS = JSON.parse(readFileSync(`${process.env.CAIRN_SRCDIR}/tests/data/wire/streams.json`, "utf8"));

const messageOf = (hex) => decode([...new Splitter().take(Uint8Array.from(Buffer.from(hex, "hex")))][0]);

function meantOf({ flags, status, ...rest }) {
  return { ...rest, status: STATUSES[status], asleep: (flags & 1) !== 0, fast: (flags & 4) !== 0, sensor: (flags & 8) !== 0, quarantine: (flags & 2) !== 0 };
}

function meantJointOf({ type, flags, point_a: pointA, frame_a: frameA, point_b: pointB, frame_b: frameB, breaks, ...rest }) {
  return {
    ...rest, type: JOINT_TYPES[type], passes: (flags & 1) !== 0, asleep: (flags & 2) !== 0, pointA, frameA, pointB, frameB,
    breakForce: breaks[0], breakTorque: breaks[1],
  };
}

for (const { profile, frames } of STREAMS.streams) {
  test(`a mirror of profile ${profile} has the recorded state after frames of every kind`, () => {
    const mirror = new Mirror(STREAMS.fields, PROFILE[profile], STREAMS.joints), kinds = new Set();
    let hashed = 0;
    for (const { kind, epoch, tick, parts, bodies, joints } of frames) {
      const what = `${kind} of tick ${tick}`;
      parts.forEach((part, i) => assert.equal(mirror.take(messageOf(part)), i + 1 === parts.length, what));
      assert.deepEqual([mirror.epoch, mirror.tick, mirror.count], [epoch, tick, bodies.length], what);
      for (const body of bodies) assert.deepEqual(mirror.body(body.id), meantOf(body), what);
      assert.deepEqual([...mirror.joints.items.keys()].sort((a, b) => a - b), joints.map(({ id }) => id), what);
      for (const joint of joints) assert.deepEqual(mirror.joints.items.get(joint.id), meantJointOf(joint), what);
      if (mirror.joints.hash !== null) {
        hashed++;
        assert.equal(jointsHash(mirror), Buffer.from(mirror.joints.hash).readBigUInt64BE(), what);
      }
      assert.equal(isRight(mirror), null, "these streams have no hash of bodies");
      kinds.add(kind);
    }
    assert.ok(hashed > 6 && hashed < frames.length);
    assert.deepEqual([...kinds].sort(), ["absolute", "difference", "joined", "snapshot"]);
  });
}
