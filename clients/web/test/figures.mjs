/**
 * What the page costs: node test/figures.mjs, in BUILD/npm/web with CAIRN_BUILDDIR and CAIRN_SRCDIR set (make viewer-figures).
 * Output: TAP, one line for each bound. Bytes and draw calls of a picture are counted at the page's WebGL context; times are the
 * processor's, of the page's main thread, from the browser's own counters.
 */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { setTimeout as sleep } from "node:timers/promises";
import { daemon } from "../../js/test/daemon.js";
import { launch } from "./browser.js";

const BOUNDS = { page_bytes: 400e3, calls: 40, picture_bytes: 400e3, main_ms: 2, idle_share: 0.01 };
const IDLE_S = 20, PICTURES = 60;

let verdicts = 0, failed = 0;
function verdict(good, text) {
  if (!good) failed++;
  console.log(`${good ? "ok" : "not ok"} ${++verdicts} - ${text}`);
}

/** A world of nx × ny × nz boxes of eight shapes that fly and turn without contacts. */
const crowd = (name, [nx, ny, nz]) => ({
  world: { name, rate: 60, method: "free", gravity: [0, 0, 0], limits: { bodies: 16384, placements: 16384 } },
  shapes: Object.fromEntries(Array.from({ length: 8 }, (_, i) => [`box${i}`, { kind: "box", size: [0.5, 0.3, 0.2 + 0.02 * i] }])),
  bodies: Array.from({ length: 8 }, (_, i) => ({
    shape: `box${i}`, mass: 1, at: [-nx, 0, 5 * i], angular_velocity: [1, 2, 0.5 + 0.1 * i], velocity: [0.01, 0, 0],
    grid: { count: [nx, ny, nz], spacing: 2 }, jitter: 0.5,
  })),
});

/** Counts draw calls and bytes of buffers and textures that a page sends to its GPU: window.sent. */
function countSent() {
  window.sent = { calls: 0, bytes: 0 };
  const { prototype } = WebGL2RenderingContext;
  const wrap = (name, count) => {
    const before = prototype[name];
    prototype[name] = function counted(...of) {
      count(...of);
      return before.apply(this, of);
    };
  };
  for (const name of ["drawArrays", "drawElements", "drawArraysInstanced", "drawElementsInstanced"]) wrap(name, () => { window.sent.calls++; });
  wrap("bufferData", (_, data) => { window.sent.bytes += data?.byteLength ?? 0; });
  wrap("bufferSubData", (_, at, data, start, count) => {
    window.sent.bytes += count ? count * data.BYTES_PER_ELEMENT : data.byteLength;
  });
  wrap("texSubImage2D", (...of) => { window.sent.bytes += of.at(-1)?.byteLength ?? 0; });
}

async function open(browser, address, count) {
  const page = await browser.newPage({ viewport: { width: 320, height: 200 } });
  await page.addInitScript(countSent);
  await page.goto(address);
  await page.waitForFunction((n) => window.cairn?.moment() && cairn.framed() && cairn.link.mirror.count === n, count, { timeout: 120000 });
  return page;
}

/** Draw calls and bytes of pictures in which everything moves: medians. */
async function picture(page) {
  return page.evaluate(async (wanted) => {
    const { stage } = cairn, before = stage.render, seen = [];
    await new Promise((done) => {
      stage.render = function counted() {
        const { calls, bytes } = window.sent;
        before.call(stage);
        seen.push([window.sent.calls - calls, window.sent.bytes - bytes]);
        if (seen.length === wanted) done();
      };
    });
    stage.render = before;
    const median = (k) => seen.map((each) => each[k]).sort((a, b) => a - b)[wanted >> 1];
    return { calls: median(0), bytes: median(1) };
  }, PICTURES);
}

/** Milliseconds of the page's own work for a frame and for a picture, medians: decoding, following, keeping poses; writing what is drawn. */
async function work(page) {
  return page.evaluate(async (wanted) => {
    const { statistics, crowd, playback } = cairn, frames = [], pictures = [];
    const { frame } = statistics, { follow, draw } = crowd, { push } = playback;
    let following = 0;
    crowd.follow = function timed(...of) {
      const start = performance.now();
      follow.apply(crowd, of);
      following = performance.now() - start;
    };
    playback.push = function timed(...of) {
      const start = performance.now();
      push.apply(playback, of);
      following += performance.now() - start;
    };
    statistics.frame = function timed(bytes, ms, changed) {
      frames.push(ms + following);
      frame.call(statistics, bytes, ms, changed);
    };
    await new Promise((done) => {
      crowd.draw = function timed(...of) {
        const start = performance.now();
        draw.apply(crowd, of);
        pictures.push(performance.now() - start);
        if (pictures.length >= wanted && frames.length >= wanted) done();
      };
    });
    Object.assign(statistics, { frame });
    Object.assign(crowd, { follow, draw });
    Object.assign(playback, { push });
    const middle = (values) => values.sort((a, b) => a - b)[values.length >> 1];
    return { frame: middle(frames), picture: middle(pictures) };
  }, PICTURES);
}

/** The share of a core that the page's main thread uses. */
async function share(page, seconds) {
  const devtools = await page.context().newCDPSession(page);
  await devtools.send("Performance.enable", { timeDomain: "threadTicks" });
  const taken = async () => Object.fromEntries((await devtools.send("Performance.getMetrics")).metrics.map(({ name, value }) => [name, value])).TaskDuration;
  const before = await taken(), start = performance.now();
  await sleep(seconds * 1000);
  return (await taken() - before) / ((performance.now() - start) / 1000);
}

console.log("1..5");
const files = ["index.html", "style.css", "viewer.js"].map((name) => [name, gzipSync(readFileSync(join("dist", name)), { level: 9 }).length]);
const whole = files.reduce((sum, [, bytes]) => sum + bytes, 0);
verdict(whole <= BOUNDS.page_bytes, `the page has ${whole} bytes as gzip: ${files.map(([name, bytes]) => `${name} ${bytes}`).join(", ")}`);

const home = mkdtempSync(join(tmpdir(), "cairn-figures-"));
const scenes = { crowd10: [25, 25, 2], crowd5: [25, 25, 1] };
const paths = Object.entries(scenes).map(([name, counts]) => {
  const path = join(home, `${name}.yaml`);
  writeFileSync(path, JSON.stringify(crowd(name, counts)));
  return path;
});
const server = await daemon("--web", "tcp:127.0.0.1:0", "--web-files", "dist", ...paths.flatMap((path) => ["--scene", path]));
const browser = await launch();
try {
  const address = await server.logged(/listening address=(http:\S+)/);
  const many = await open(browser, `${address}#world=crowd10&profile=view`, 10000);
  const { calls, bytes } = await picture(many);
  verdict(calls <= BOUNDS.calls, `10 000 moving instances of 8 shapes with shadows and edges take ${calls} draw calls a picture`);
  verdict(bytes <= BOUNDS.picture_bytes, `and ${bytes} bytes a picture`);
  await many.close();
  const five = await open(browser, `${address}#world=crowd5&profile=view`, 5000);
  const { frame, picture: drawn } = await work(five);
  verdict(frame + drawn <= BOUNDS.main_ms, `5000 moving bodies take ${(frame + drawn).toFixed(2)} ms of the main thread: ${
    frame.toFixed(2)} ms to decode and follow a frame, ${drawn.toFixed(2)} ms to place what is drawn`);
  await five.close();
  const calm = await daemon("--web", "tcp:127.0.0.1:0", "--web-files", "dist", "--paused", "--scene",
    join(process.env.CAIRN_SRCDIR, "clients", "scenes", "tower.yaml"));
  try {
    const idle = await open(browser, `${await calm.logged(/listening address=(http:\S+)/)}#world=tower`, 194);
    await sleep(3000);
    const used = await share(idle, IDLE_S);
    verdict(used <= BOUNDS.idle_share, `a page whose world rests uses ${(100 * used).toFixed(2)} % of a core, over ${IDLE_S} s`);
  } finally {
    await calm.stop();
  }
} finally {
  await browser.close();
  await server.stop();
  rmSync(home, { recursive: true, force: true });
}
process.exit(failed === 0 ? 0 : 1);
