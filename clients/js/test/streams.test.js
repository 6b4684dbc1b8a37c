/** The recorded streams that every client reads (tests/data/wire/streams.json): after each frame, whatever its kind, the
 * mirror shows the world as it was. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { Mirror, PROFILE, STATUSES } from "../src/mirror.js";
import { Splitter, decode } from "../src/wire.js";

const STREAMS = JSON.parse(readFileSync(`${process.env.CAIRN_SRCDIR}/tests/data/wire/streams.json`, "utf8"));

const messageOf = (hex) => decode([...new Splitter().take(Uint8Array.from(Buffer.from(hex, "hex")))][0]);

function meantOf({ flags, status, ...rest }) {
  return { ...rest, status: STATUSES[status], asleep: (flags & 1) !== 0, quarantine: (flags & 2) !== 0 };
}

for (const { profile, frames } of STREAMS.streams) {
  test(`a mirror of profile ${profile} shows the world after frames of every kind`, () => {
    const mirror = new Mirror(STREAMS.fields, PROFILE[profile]), kinds = new Set();
    for (const { kind, epoch, tick, parts, bodies } of frames) {
      const what = `${kind} of tick ${tick}`;
      parts.forEach((part, i) => assert.equal(mirror.take(messageOf(part)), i + 1 === parts.length, what));
      assert.deepEqual([mirror.epoch, mirror.tick, mirror.count], [epoch, tick, bodies.length], what);
      for (const body of bodies) assert.deepEqual(mirror.body(body.id), meantOf(body), what);
      kinds.add(kind);
    }
    assert.deepEqual([...kinds].sort(), ["absolute", "difference", "joined", "snapshot"]);
  });
}
