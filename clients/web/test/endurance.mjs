/**
 * An endurance test of the viewer: node test/endurance.mjs MINUTES, in BUILD/npm/web with CAIRN_BUILDDIR and CAIRN_SRCDIR
 * set (make soak-viewer). Output: TAP. 5000 bodies move and turn, and every frame has all of them.
 *
 * First, frames of the profiles view, sim and exact are recorded over a socket and decoded again by mirrors in Node.js. The time
 * of a frame is the minimum of ROUNDS rounds, because other programs and garbage collections disturb single rounds; the 99th
 * percentile of these times must be at most 2 ms. Then the page decodes a stream of profile sim in headless Chromium, with
 * pictures and at the end without them, which separates decoding from drawing. Here the median must be at most 2 ms, because a
 * high percentile measures the machine. After a garbage collection the heap in the run's last third must not be larger than in
 * its middle third (GROWTH).
 */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { daemon } from "../../js/test/daemon.js";
import { ALL, Mirror, PROFILE, command } from "../../js/src/index.js";
import { connect } from "../../js/src/tcp.js";
import { launch } from "./browser.js";

const MINUTES = Number(process.argv[2] ?? 10);
const BODIES = [20, 25, 10];
const COUNT = BODIES.reduce((product, n) => product * n);
const RECORDED = 120;
const ROUNDS = 5;
const DECODE_MS = 2;
const SAMPLE_MS = 5000;
const STILL_MS = 15000;
/** Largest growth of the heap from the middle third to the last: this many bytes, or a twentieth if that is more. */
const GROWTH = 2 << 20;

/** Boxes that tumble without contacts. sway() alternates gravity, so that every column changes. */
const SCENE = {
  world: { name: "crowd", rate: 60, method: "free", gravity: [0, 0, 0] },
  shapes: { box: { kind: "box", size: [0.5, 0.3, 0.2] } },
  bodies: [{
    shape: "box", mass: 1, at: [-20, 0, -10], angular_velocity: [1, 2, 0.5], grid: { count: BODIES, spacing: 2 }, jitter: 0.5,
  }],
};

let verdicts = 0, failed = 0;
function verdict(good, text) {
  if (!good) failed++;
  console.log(`${good ? "ok" : "not ok"} ${++verdicts} - ${text}`);
}

const sorted = (values) => Float64Array.from(values).sort();
const quantile = (values, share) => sorted(values)[Math.min(Math.floor(values.length * share), values.length - 1)] ?? NaN;
const figures = (ms) => `median ${quantile(ms, 0.5).toFixed(2)} ms, p99 ${quantile(ms, 0.99).toFixed(2)} ms`;

const late = (ms) => `${((100 * ms.filter((t) => t > DECODE_MS).length) / ms.length).toFixed(2)} % above ${DECODE_MS} ms`;

/** Records RECORDED complete frames of a profile from the SNAPSHOT on; a frame is the list of its messages. */
async function record(world, profile) {
  const frames = [];
  let parts = [], whole;
  const done = new Promise((resolve) => { whole = resolve; });
  const take = Mirror.prototype.take;
  Mirror.prototype.take = function recording(message) {
    // A copy, because the connection reuses the bytes.
    if (frames.length < RECORDED) parts.push(structuredClone(message));
    const complete = take.call(this, message);
    if (complete && frames.length < RECORDED) {
      frames.push(parts);
      parts = [];
      if (frames.length === RECORDED) whole();
    }
    return complete;
  };
  const subscription = await world.subscribe({ fields: ALL, profile });
  await done;
  Mirror.prototype.take = take;
  await world.unsubscribe(subscription);
  return frames;
}

/** Decoding times in ms of all frames but the first: the minimum over ROUNDS rounds. */
function decodeTimes(frames, profile) {
  const least = new Float64Array(frames.length - 1).fill(Infinity);
  let changed = 0;
  for (let round = 0; round < ROUNDS; round++) {
    const mirror = new Mirror(ALL, profile);
    changed = 0;
    frames.forEach((parts, i) => {
      const started = performance.now();
      for (const message of parts) mirror.take(message);
      if (i === 0) return;
      least[i - 1] = Math.min(least[i - 1], performance.now() - started);
      changed += mirror.changed.length;
    });
  }
  return { ms: least, changed: changed / least.length };
}

async function decodeHere(client) {
  const world = await client.join("crowd");
  for (const name of ["view", "sim", "exact"]) {
    const frames = await record(world, PROFILE[name]);
    const bytes = frames.slice(1).flat().reduce((sum, m) => sum + (m.columns?.length ?? 0), 0) / (frames.length - 1);
    const { ms, changed } = decodeTimes(frames, PROFILE[name]);
    verdict(quantile(ms, 0.99) <= DECODE_MS && changed > COUNT * 0.9,
      `Node.js decodes ${changed.toFixed(0)} changed bodies of profile ${name}, ${bytes.toFixed(0)} bytes: ${figures(ms)}`);
  }
}

/** Reverses gravity every second, so that no body leaves the picture; returns a function that ends it. */
function sway(client) {
  let on = true;
  const swaying = (async () => {
    const world = await client.join("crowd");
    for (let side = 0; on; side++) {
      await world.send(command("gravity", { gravity: [0, side % 2 ? 1 : -1, 0] }));
      await sleep(1000);
    }
  })();
  return () => {
    on = false;
    return swaying;
  };
}

async function watchPage(address) {
  const browser = await launch();
  try {
    const page = await browser.newPage({ viewport: { width: 320, height: 200 } });
    const wrong = [];
    page.on("pageerror", (error) => wrong.push(error.message));
    await page.goto(`${address}#world=crowd&profile=sim`);
    await page.waitForFunction((count) => window.cairn?.moment() && cairn.link.mirror?.count === count, COUNT,
      { timeout: 60000 });
    await page.evaluate(() => {
      document.getElementById("shadows").click();
      const { statistics } = cairn, frame = statistics.frame.bind(statistics);
      cairn.times = new Float32Array(1 << 18);
      cairn.taken = 0;
      statistics.frame = (bytes, ms) => {
        cairn.times[cairn.taken++ % cairn.times.length] = ms;
        frame(bytes, ms);
      };
    });
    const devtools = await page.context().newCDPSession(page);
    await devtools.send("HeapProfiler.enable");
    const heap = [], start = performance.now();
    while (performance.now() - start < MINUTES * 60000) {
      await sleep(SAMPLE_MS);
      await devtools.send("HeapProfiler.collectGarbage");
      heap.push((await devtools.send("Runtime.getHeapUsage")).usedSize);
    }
    const taken = () => page.evaluate(() => Array.from(cairn.times.subarray(0, cairn.taken)));
    const times = await taken(), values = await page.evaluate(() => cairn.statistics.values);
    // The page draws no more pictures.
    await page.evaluate(() => {
      window.requestAnimationFrame = () => 0;
      cairn.taken = 0;
    });
    await sleep(STILL_MS);
    return { wrong, heap, times, values, alone: await taken() };
  } finally {
    await browser.close();
  }
}

function judgePage({ wrong, heap, times, values, alone }) {
  const third = Math.max(Math.floor(heap.length / 3), 1);
  const middle = quantile(heap.slice(-2 * third, -third), 0.5), last = quantile(heap.slice(-third), 0.5);
  const mib = (bytes) => (bytes / 2 ** 20).toFixed(2);
  console.log(`# ${times.length} frames in ${MINUTES} minutes, ${values.pictures.toFixed(1)} pictures/s, ` +
    `${values.kilobits.toFixed(0)} kbit/s, ${values.skipped} frames skipped; heap at first ${mib(heap[0])} MiB`);
  verdict(quantile(times, 0.5) <= DECODE_MS, `the page decodes ${COUNT} moving bodies: ${figures(times)}, ${late(times)}`);
  verdict(quantile(alone, 0.5) <= DECODE_MS && alone.length > STILL_MS / 100,
    `and without pictures, ${alone.length} frames: ${figures(alone)}, ${late(alone)}`);
  verdict(last - middle <= Math.max(GROWTH, middle / 20),
    `the page's heap is flat: ${mib(middle)} MiB in the middle third, ${mib(last)} MiB in the last`);
  verdict(wrong.length === 0 && times.length > MINUTES * 60, `the page reported no error${wrong.map((w) => `; ${w}`).join("")}`);
}

console.log("1..7");
const home = mkdtempSync(join(tmpdir(), "cairn-endurance-"));
const file = join(home, "crowd.yaml");
writeFileSync(file, JSON.stringify(SCENE));
const server = await daemon("--web", "tcp:127.0.0.1:0", "--web-files", "dist", "--scene", file);
const client = await connect(server.address, { name: "endurance", role: "controller" });
while ((await client.list()).length === 0) await sleep(50);
const still = sway(client);
try {
  await decodeHere(client);
  judgePage(await watchPage(await server.logged(/listening address=(http:\S+)/)));
} finally {
  await still();
  client.close();
  await server.stop();
  rmSync(home, { recursive: true, force: true });
}
process.exit(failed === 0 ? 0 : 1);
