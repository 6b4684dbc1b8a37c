/** The page in headless Chromium against a real daemon: what a person would see and do. */
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { chromium } from "playwright-core";
import { daemon } from "../../js/test/daemon.js";

const SCENES = `${process.env.CAIRN_SRCDIR}/clients/scenes`;
const VIEW = { width: 640, height: 400 };
/** A lit face, made as bright as it gets, may be this far from the colour it was painted in, of 255 in each channel. */
const HUE_TOLERANCE = 40;

const TOKEN = "a token for nobody but this test";
const CONTROLLER = `#world=tower&token=${encodeURIComponent(TOKEN)}`;
/** A world in which nothing moves by itself. */
const CALM = `#world=pyramid&token=${encodeURIComponent(TOKEN)}`;

let server, browser, home;
before(async () => {
  home = mkdtempSync(join(tmpdir(), "cairn-web-"));
  const hash = createHash("sha256").update(TOKEN).digest("hex");
  writeFileSync(join(home, "tokens"), `bearer tester controller ${hash}\n`, { mode: 0o600 });
  server = await viewerDaemon("--web", "tcp:127.0.0.1:0", "--scene", `${SCENES}/tower.yaml`, "--scene",
    `${SCENES}/mixed.yaml`, "--scene", `${SCENES}/pyramid.yaml`);
  browser = await chromium.launch({
    executablePath: "/usr/bin/chromium",
    args: ["--no-sandbox", "--use-angle=swiftshader", "--enable-unsafe-swiftshader"],
  });
});
after(async () => {
  await browser?.close();
  await server?.stop();
  rmSync(home, { recursive: true, force: true });
});

async function viewerDaemon(...options) {
  const started = await daemon("--web-files", "dist", "--tokens", join(home, "tokens"), ...options);
  return { ...started, page: await started.said(/listening address=(http:\S+)/) };
}

/** A page that has its first picture of a world. What goes wrong on it is kept in page.wrong. */
async function open(hash = "", { shadows = false } = {}) {
  const page = await browser.newPage({ viewport: VIEW });
  page.wrong = [];
  page.elsewhere = [];
  page.on("pageerror", (error) => page.wrong.push(error.message));
  page.on("request", (request) => {
    if (!request.url().startsWith(server.page) && !request.url().startsWith("data:"))
      page.elsewhere.push(request.url());
  });
  await page.goto(server.page + hash);
  if (!shadows) await page.evaluate(() => { document.getElementById("shadows").click(); });
  // Bodies, their shapes, and a picture of them.
  await page.waitForFunction(() => window.cairn?.moment() && cairn.link.mirror?.count > 1 && cairn.crowd.complete, null,
    { timeout: 30000 });
  await page.evaluate(() => new Promise((resolve) => { requestAnimationFrame(() => requestAnimationFrame(resolve)); }));
  return page;
}

/** Looks down at the topmost dynamic body, which nothing hides: its id and where it is on the page. */
const lookAtBody = (page) => page.evaluate(async () => {
  const { link, stage, crowd } = cairn;
  const height = (id) => link.mirror.position[link.mirror.slots.get(id) * 3 + 1];
  const id = [...link.mirror.slots.keys()].filter((k) => link.mirror.body(k).status === "dynamic")
    .reduce((top, k) => (height(k) > height(top) ? k : top));
  const { position } = crowd.poseOf(link.mirror, cairn.moment(), id);
  stage.controls.target.copy(position);
  stage.camera.position.copy(position).add({ x: 1.5, y: 3, z: 6 });
  await new Promise((resolve) => { requestAnimationFrame(() => requestAnimationFrame(resolve)); });
  const at = crowd.poseOf(link.mirror, cairn.moment(), id).position.project(stage.camera);
  return { id, x: ((at.x + 1) / 2) * innerWidth, y: ((1 - at.y) / 2) * innerHeight };
});

/** The picture's pixel [r, g, b] at a point of the page. */
const pixel = (page, { x, y }) => page.evaluate(([x, y]) => {
  const canvas = document.getElementById("stage"), copy = document.createElement("canvas");
  cairn.stage.render();
  copy.width = copy.height = 1;
  const context = copy.getContext("2d"), ratio = canvas.width / innerWidth;
  context.drawImage(canvas, x * ratio, y * ratio, 1, 1, 0, 0, 1, 1);
  return [...context.getImageData(0, 0, 1, 1).data.slice(0, 3)];
}, [x, y]);

const distance = (a, b) => Math.max(...a.map((v, i) => Math.abs(v - b[i])));

test("the page loads from the daemon alone and shows the world's numbers", async () => {
  const page = await open();
  await page.waitForFunction(() => cairn.statistics.values.tick > 0 && cairn.statistics.values.kilobits > 0);
  assert.match(await page.textContent("#state"), /^observer, soft-step, running$/);
  assert.match(await page.textContent("#statistics"), /Tick\d+Bodies\d+/);
  const first = await page.evaluate(() => cairn.link.mirror.tick);
  await page.waitForFunction((tick) => cairn.link.mirror.tick > tick + 20, first);
  assert.deepEqual(page.wrong, []);
  assert.deepEqual(page.elsewhere.filter((url) => !url.startsWith("ws:")), []);
  await page.close();
});

test("bodies stand in the picture where the world has them", async () => {
  const page = await open(CONTROLLER, { shadows: true });
  // A tower that falls would not be where it was looked for.
  await page.click("#pause");
  await page.waitForFunction(() => cairn.link.world.mode === "paused");
  await page.waitForTimeout(500);
  const spot = await lookAtBody(page);
  const chosen = [255, 209, 102]; // what crowd.js paints the chosen body in
  const plain = await pixel(page, spot);
  await page.evaluate((id) => { cairn.choose(id); }, spot.id);
  await page.waitForTimeout(300);
  const lit = await pixel(page, spot), above = await pixel(page, { x: VIEW.width / 2, y: 60 });
  // How bright it is depends on the side that is seen; the colour does not.
  const brightest = Math.max(...lit), full = lit.map((v) => (v * 255) / brightest);
  assert.ok(brightest > 80 && distance(full, chosen) < HUE_TOLERANCE, `chosen ${lit}`);
  assert.ok(distance(lit, plain) > 25, `it was ${plain} before`);
  assert.ok(lit[0] > lit[2] + 20, `yellow, not ${lit}`);
  assert.ok(distance(lit, above) > 40, `and what is above it ${above}`);
  await page.click("#pause");
  await page.waitForFunction(() => cairn.link.world.mode === "running");
  assert.deepEqual(page.wrong, []);
  await page.close();
});

test("every kind of shape is drawn, hulls and meshes too, each placement once", async () => {
  const page = await open("#world=mixed");
  await page.waitForFunction(() => {
    const kinds = new Set();
    cairn.stage.scene.traverse((o) => { if (o.userData.batch && o.count > 0) kinds.add(o.userData.batch.kind); });
    return ["sphere", "capsule", "box", "hull", "mesh", "plane"].every((kind) => kinds.has(kind));
  }, null, { timeout: 15000 });
  const [instances, placements] = await page.evaluate(() => {
    let sum = 0;
    cairn.stage.scene.traverse((o) => { if (o.userData.batch) sum += o.count; });
    const { mirror } = cairn.link;
    return [sum, [...mirror.slots.values()].reduce((all, slot) => all + Math.max(mirror.shapes[slot].length, 1), 0)];
  });
  assert.equal(instances, placements);
  await page.close();
});

test("a click picks a body and the panel says what it is", async () => {
  const page = await open("#world=pyramid");
  const spot = await lookAtBody(page);
  await page.mouse.click(spot.x, spot.y);
  await page.waitForFunction((id) => cairn.inspector.id === id, spot.id);
  await page.waitForFunction(() => document.querySelector("#facts").textContent.includes("kg"));
  assert.match(await page.textContent("#inspector"), /Body \d+.*Statusdynamic.*Position.*Mass[\d.e+]+ kg/s);
  await page.click("#follow");
  assert.equal(await page.getAttribute("#follow", "aria-pressed"), "true");
  await page.click("#leave");
  assert.equal(await page.isHidden("#inspector"), true);
  await page.close();
});

test("contact points and forces are shown on demand", async () => {
  const page = await open("#world=tower");
  await page.click("#contacts");
  await page.waitForFunction(() => cairn.contacts.count > 0);
  assert.ok(await page.evaluate(() => cairn.contacts.points.visible && cairn.contacts.forces.visible));
  await page.click("#contacts");
  assert.ok(await page.evaluate(() => !cairn.contacts.points.visible));
  await page.close();
});

test("another world may be chosen", async () => {
  const page = await open("#world=tower");
  await page.selectOption("#world", "mixed");
  await page.waitForFunction(() => cairn.link.world?.name === "mixed" && cairn.link.mirror?.count > 20);
  assert.deepEqual(page.wrong, []);
  await page.close();
});

test("an observer's page has nothing to command with, and the server would refuse it", async () => {
  const page = await open("#world=tower");
  for (const id of ["pause", "step", "speed", "push"]) assert.equal(await page.isVisible(`#${id}`), false, id);
  const status = await page.evaluate(() => cairn.link.world.control("pause").catch((error) => error.status));
  assert.equal(status, "forbidden");
  await page.close();
});

test("who has a token pauses, steps and sets the speed", async () => {
  const page = await open(CONTROLLER);
  await page.click("#pause");
  await page.waitForFunction(() => cairn.link.world.mode === "paused");
  assert.equal(await page.textContent("#pause"), "Resume");
  // The last frames are on their way; then the pictures have come to the newest one.
  await page.waitForTimeout(500);
  await page.waitForFunction(() => cairn.playback.playhead === cairn.link.mirror.tick);
  const before = await page.evaluate(() => cairn.link.mirror.tick);
  await page.click("#step");
  await page.waitForFunction((tick) => cairn.link.mirror.tick > tick, before);
  await page.waitForTimeout(200);
  assert.equal(await page.evaluate(() => cairn.link.mirror.tick), before + 1);
  await page.keyboard.press("."); // the button has the focus, which is not the page's: nothing happens twice
  await page.click("#stage", { position: { x: 5, y: VIEW.height - 5 }, force: true });
  await page.keyboard.press(" ");
  await page.waitForFunction(() => cairn.link.world.mode === "running");
  await page.selectOption("#speed", "0.25");
  await page.waitForFunction(() => cairn.statistics.values.dilation > 0.1 && cairn.statistics.values.dilation < 0.5);
  await page.selectOption("#speed", "1");
  assert.deepEqual(page.wrong, []);
  await page.close();
});

test("a body that is dragged follows the hand, and one that is pushed flies", async () => {
  const page = await open(CALM);
  const spot = await lookAtBody(page);
  const where = () => page.evaluate((id) => cairn.link.mirror.body(id).position, spot.id);
  const from = await where();
  await page.mouse.move(spot.x, spot.y);
  await page.mouse.down();
  for (let i = 1; i <= 10; i++) {
    await page.mouse.move(spot.x + 10 * i, spot.y - 6 * i);
    await page.waitForTimeout(60);
  }
  await page.waitForFunction(([id, y]) => cairn.link.mirror.body(id).position[1] > y + 0.2, [spot.id, from[1]]);
  await page.mouse.up();
  await page.evaluate((id) => { cairn.choose(id); }, spot.id);
  const before = await page.evaluate((id) => Math.hypot(...cairn.link.mirror.body(id).velocity), spot.id);
  await page.click("#push");
  await page.waitForFunction(([id, v]) => Math.hypot(...cairn.link.mirror.body(id).velocity) > Math.min(v, 1) + 1,
    [spot.id, before]);
  assert.deepEqual(page.wrong, []);
  await page.close();
});

test("a token that is wrong gives no more than no token", async () => {
  const page = await browser.newPage({ viewport: VIEW });
  await page.goto(`${server.page}#token=not-that-one-at-all`);
  await page.waitForFunction(() => document.getElementById("state").dataset.state === "lost");
  assert.match(await page.textContent("#state"), /auth/);
  await page.close();
});

test("time in the pictures never runs back, nor ahead of the newest frame", async () => {
  const page = await open("#world=mixed");
  const seen = await page.evaluate(async () => {
    const results = [];
    for (let n = 0; n < 30; n++) {
      await new Promise((resolve) => { requestAnimationFrame(resolve); });
      const { from, to, part } = cairn.moment();
      results.push({ part, from: from.tick, to: to.tick, playhead: cairn.playback.playhead, newest: cairn.link.mirror.tick });
    }
    return results;
  });
  for (const [i, { part, from, to, playhead, newest }] of seen.entries()) {
    assert.ok(part >= 0 && part <= 1 && from <= to && to <= newest && playhead <= newest, JSON.stringify(seen[i]));
    if (part > 0 && part < 1) assert.ok(from <= playhead && playhead <= to, JSON.stringify(seen[i]));
    if (i > 0) assert.ok(playhead >= seen[i - 1].playhead, `${playhead} after ${seen[i - 1].playhead}`);
  }
  await page.close();
});

test("after a restart of the daemon the page is back by itself", async () => {
  const page = await open("#world=tower");
  const { port } = new URL(server.page);
  await server.stop();
  await page.waitForFunction(() => document.getElementById("state").dataset.state === "lost");
  server = await viewerDaemon("--web", `tcp:127.0.0.1:${port}`, "--scene", `${SCENES}/tower.yaml`);
  await page.waitForFunction(() => cairn.link.client && cairn.link.mirror?.count > 1 &&
    document.getElementById("state").dataset.state === "running", null, { timeout: 20000 });
  assert.deepEqual(page.wrong, []);
  await page.close();
});
