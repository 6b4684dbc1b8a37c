/** The first view when bodies arrive in several parts: by a budget, or because the world is filled while it is watched. */
import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { daemon } from "../../js/test/daemon.js";
import { shapes } from "../../js/src/index.js";
import { TOKEN, launch, writeTokens } from "./browser.js";

const SCENES = `${process.env.CAIRN_SRCDIR}/clients/scenes`;
const CONTROLLER = `token=${encodeURIComponent(TOKEN)}`;
let server, browser, home, address, page;

before(async () => {
  home = mkdtempSync(join(tmpdir(), "cairn-view-"));
  server = await daemon("--web", "tcp:127.0.0.1:0", "--web-files", "dist", "--tokens", writeTokens(home), "--paused",
    "--scene", `${SCENES}/pyramid.yaml`);
  address = await server.logged(/listening address=(http:\S+)/);
  browser = await launch();
  page = await (await browser.newContext({ viewport: { width: 640, height: 400 } })).newPage();
});
after(async () => {
  await browser?.close();
  await server?.stop();
  rmSync(home, { recursive: true, force: true });
});

/** Opens the page anew, without shadows, which take long in software. */
async function open(hash) {
  await page.goto("about:blank");
  await page.goto(`${address}#${hash}&${CONTROLLER}`);
  await page.evaluate(() => { document.getElementById("shadows").click(); });
}

/** The least and largest coordinates on the screen of what a first view shows, −1 … 1, and the camera's place. */
const seen = () => page.evaluate(() => {
  const { link, crowd, stage } = cairn, ends = [];
  stage.move(); // as the next picture does
  stage.camera.updateMatrixWorld();
  for (const { min, max } of crowd.subject(link.mirror))
    for (const x of [min.x, max.x])
      for (const y of [min.y, max.y])
        for (const z of [min.z, max.z]) {
          const at = stage.controls.target.clone().set(x, y, z).project(stage.camera);
          ends.push(at.x, at.y);
        }
  return { least: Math.min(...ends), most: Math.max(...ends), camera: stage.camera.position.toArray() };
});

/** All bodies are on the screen, and they are as large as from a view that R frames. */
async function framesAll() {
  const { least, most, camera } = await seen();
  assert.ok(least >= -1 && most <= 1, JSON.stringify({ least, most }));
  await page.evaluate(() => document.getElementById("reset").click());
  const { camera: again } = await seen();
  assert.ok(camera.every((v, i) => Math.abs(v - again[i]) < 1e-6 * (1 + Math.abs(v))), `${camera} is not ${again}`);
}

test("placeFor sees all of any boxes, in the middle, and stands no farther away than it must", async () => {
  const page = { getBoundingClientRect: () => ({ width: 0 }) };
  Object.assign(globalThis, { window: { innerWidth: 640, innerHeight: 400 }, document: { getElementById: () => page } });
  const { Box3, Vector3 } = await import("three"), { placeFor } = await import("../src/view.js");
  const back = new Vector3(0.55, 0.4, 0.75).normalize(), right = new Vector3(0, 1, 0).cross(back).normalize(), up = back.clone().cross(right);
  let state = 1;
  const random = () => { state = (state * 16807) % 2147483647; return state / 2147483647; }; // Lehmer's generator
  for (let round = 0; round < 200; round++) {
    const flat = round % 4 === 3, wide = 10 ** (3 * random() - 2), boxes = Array.from({ length: 1 + Math.floor(random() * 5) }, () => {
      const at = new Vector3(random(), random(), random()).multiplyScalar(wide);
      return new Box3(at, at.clone().add(new Vector3(random(), random(), random()).multiplyScalar(random() * wide)));
    });
    const { target, away } = placeFor(boxes, back, [0.6, 0.4], flat), ends = { x: [Infinity, -Infinity], y: [Infinity, -Infinity] };
    for (const { min, max } of boxes)
      for (let k = 0; k < 8; k++) {
        const from = new Vector3(k & 1 ? max.x : min.x, k & 2 ? max.y : min.y, k & 4 ? max.z : min.z).sub(target);
        const depth = flat ? away : away - from.dot(back);
        assert.ok(depth > 0, "in front of the camera");
        for (const [name, axis, slope] of [["x", right, 0.6], ["y", up, 0.4]]) {
          const seen = from.dot(axis) / (depth * slope);
          ends[name] = [Math.min(ends[name][0], seen), Math.max(ends[name][1], seen)];
        }
      }
    const told = JSON.stringify({ round, ends, away });
    for (const [least, most] of [ends.x, ends.y]) assert.ok(least >= -0.8601 && most <= 0.8601 && Math.abs(least + most) < 0.05, told);
    assert.ok(Math.max(ends.x[1], ends.y[1]) > 0.85, told); // one side is as full as the margin allows
  }
});

test("a first view whose bodies come in parts, by a budget, has all of them, and the world starts no sooner", async () => {
  await page.addInitScript(() => { window.partials = []; });
  await open("world=pyramid&start=seen&budget=4000"); // some seconds: no picture of a slow page comes too late
  await page.waitForFunction(() => {
    const { mirror } = window.cairn?.link ?? {};
    if (mirror?.partial) partials.push([mirror.count, cairn.framed(), cairn.link.world.mode]);
    return partials.length > 0;
  });
  await page.waitForFunction(() => {
    const { mirror, world } = cairn.link;
    if (mirror.partial) partials.push([mirror.count, cairn.framed(), world.mode]);
    return mirror.count === 211 && cairn.framed();
  });
  const parts = await page.evaluate(() => partials);
  assert.ok(parts.every(([, framed, mode]) => !framed && mode === "paused"), JSON.stringify(parts));
  assert.ok(parts[0][0] < 211, JSON.stringify(parts[0]));
  await page.waitForFunction(() => cairn.link.world.mode === "running");
  await page.click("#pause");
  await page.waitForFunction(() => cairn.link.world.mode === "paused");
});

test("a world that is filled in parts while it is watched is framed until all is there; a camera that was moved stays", async () => {
  await open("world=pyramid");
  await page.waitForFunction(() => window.cairn?.framed() && cairn.link.mirror.count === 211);
  await page.evaluate(() => cairn.link.client.create("filling"));
  await page.selectOption("#world", "filling").catch(async () => {
    await page.waitForFunction(() => [...document.getElementById("world").options].some(({ value }) => value === "filling"));
    await page.selectOption("#world", "filling");
  });
  await page.waitForFunction(() => cairn.link.world.name === "filling" && cairn.link.mirror?.count === 0);
  assert.equal(await page.evaluate(() => cairn.framed()), false, "an empty world has no view");
  const box = [...shapes.box(0.5, 0.5, 0.5)];
  const fill = (n, to) => page.evaluate(async ([bytes, count, x]) => {
    const { world } = cairn.link, shape = await world.shape(new Uint8Array(bytes));
    for (let i = 0; i < count; i++) await world.spawn({ position: [x + i * 2, 1, 0], shapes: [[shape]] });
  }, [box, n, to]);
  for (const [n, x] of [[2, 0], [3, 10], [4, 30]]) {
    const before = await page.evaluate(() => cairn.link.mirror.count);
    await fill(n, x);
    await page.waitForFunction((count) => cairn.link.mirror.count === count && cairn.framed() && cairn.crowd.complete, before + n);
    await page.waitForFunction((count) => cairn.fittedFor() === count, before + n);
    await framesAll();
  }
  const moved = await page.evaluate(() => {
    cairn.stage.turn(0.5, 0);
    return cairn.stage.camera.position.toArray();
  });
  await fill(1, -60);
  await page.waitForFunction(() => cairn.link.mirror.count === 10);
  await page.waitForFunction(() => cairn.playback.playhead === cairn.link.mirror.tick);
  await page.evaluate(() => new Promise((done) => { requestAnimationFrame(() => requestAnimationFrame(done)); }));
  const { camera } = await seen();
  assert.ok(camera.every((v, i) => Math.abs(v - moved[i]) < 1e-6), `${camera} is not ${moved}`);
});
