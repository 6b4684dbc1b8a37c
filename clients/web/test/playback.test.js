/** The interpolation buffer, fed with frames that come as a network or a busy machine brings them. */
import assert from "node:assert/strict";
import test from "node:test";
import { Playback } from "../src/playback.js";

/** Numbers in [0, 1), the same in each run. */
function* numbers(seed) {
  for (let x = seed; ;) {
    x = (Math.imul(x, 1664525) + 1013904223) >>> 0;
    yield x / 2 ** 32;
  }
}

const mirror = (tick, epoch = 1) => ({
  tick, epoch, end: 1, capacity: 1, position: new Float32Array(3), rotation: Float32Array.of(1, 0, 0, 0), ids: Uint32Array.of(1),
});

/** Plays `frames` of {tick, at (ms)}, with pictures at `pictures` (ms). Calls seen(playhead, newest tick, moment) at each. */
function play(playback, frames, pictures, seen) {
  let next = 0;
  for (const now of pictures) {
    while (next < frames.length && frames[next].at <= now) playback.push(mirror(frames[next].tick), frames[next++].at);
    if (next > 0) seen(playback.playhead, frames[next - 1].tick, playback.at(now));
  }
}

test("however late frames and pictures are, the playhead never runs backwards, nor ahead of the newest frame", () => {
  for (let seed = 1; seed <= 200; seed++) {
    const random = numbers(seed), draw = () => random.next().value, playback = new Playback(), frames = [], pictures = [];
    playback.clear(60);
    let at = 0, tick = 0, worst = 20 + 1500 * draw();
    for (let i = 0; i < 60; i++) {
      const gap = draw() < 0.2 ? worst * draw() : 17;
      at += gap;
      tick += draw() < 0.5 ? 1 : Math.max(1, Math.round(gap * 0.06));
      frames.push({ tick, at });
    }
    for (let now = 0; now < at + 1000; now += draw() < 0.1 ? worst * draw() : 16) pictures.push(now);
    let before = -Infinity;
    play(playback, frames, pictures, (_, newest, { from, to, part }) => {
      const { playhead } = playback, text = JSON.stringify({ seed, before, playhead, newest, from: from.tick, to: to.tick, part });
      assert.ok(playhead >= before && playhead <= newest && part >= 0 && part <= 1 && from.tick <= to.tick && to.tick <= newest, text);
      if (part > 0 && part < 1) assert.ok(from.tick <= playhead && playhead <= to.tick, text);
      before = playhead;
    });
    assert.equal(playback.playhead, tick, "at rest the newest frame is shown");
  }
});

test("a steady stream is shown two frames late at its own pace", () => {
  const playback = new Playback(), frames = Array.from({ length: 600 }, (_, i) => ({ tick: i, at: i * 1000 / 60 }));
  playback.clear(60);
  play(playback, frames, frames.map(({ at }) => at + 5), (_, newest) => {
    if (newest > 300) assert.ok(Math.abs(newest - playback.playhead - 2) < 0.5, `${playback.playhead} at ${newest}`);
  });
});

test("another time of the world is shown at once, be it earlier or later", () => {
  const playback = new Playback();
  playback.clear(60);
  play(playback, [{ tick: 1000, at: 0 }, { tick: 1001, at: 17 }], [0, 17, 500], () => {});
  assert.equal(playback.playhead, 1001);
  playback.push(mirror(40, 2), 520);
  playback.at(520);
  assert.ok(playback.playhead <= 40 && playback.playhead >= 38, `${playback.playhead}`);
});
