/** The page in headless Chromium against a real daemon: what a person would see and do. */
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { chromium } from "playwright-core";
import { connect } from "../../js/src/tcp.js";
import { daemon, relay } from "../../js/test/daemon.js";

const SCENES = `${process.env.CAIRN_SRCDIR}/clients/scenes`;
const VIEW = { width: 640, height: 400 };
/** A lit face, made as bright as it gets, may be this far from the colour it was painted in, of 255 in each channel. */
const HUE_TOLERANCE = 40;

const TOKEN = "a token for nobody but this test";
const CONTROLLER = `#world=tower&token=${encodeURIComponent(TOKEN)}`;
/** A world in which nothing moves by itself. */
const CALM = `#world=pyramid&token=${encodeURIComponent(TOKEN)}`;

/** A closed mesh that moves, upon a floor: a wedge with a slope, and one box on it, far from another. */
const ODD = {
  world: { rate: 60 },
  shapes: {
    floor: { kind: "plane" },
    wedge: {
      kind: "solid", form: "hull", points: [[-1, 0, -1], [1, 0, -1], [1, 0, 1], [-1, 0, 1], [-1, 1, -1], [-1, 1, 1]],
      triangles: [[0, 1, 2], [0, 2, 3], [0, 4, 1], [3, 2, 5], [0, 3, 5], [0, 5, 4], [1, 4, 5], [1, 5, 2]],
    },
    box: { kind: "box", size: 1 },
  },
  bodies: [
    { shape: "floor", status: "static" },
    { shape: "wedge", mass: 20, at: [0, 0.01, 0] },
    { shape: "box", mass: 2, friction: 0.8, at: [4, 0.5, 0] },
    { shape: "box", mass: 2, friction: 0.8, at: [60, 0.5, 0] },
  ],
};

let server, browser, home;
before(async () => {
  home = mkdtempSync(join(tmpdir(), "cairn-web-"));
  const hash = createHash("sha256").update(TOKEN).digest("hex");
  writeFileSync(join(home, "tokens"), `bearer tester controller ${hash}\n`, { mode: 0o600 });
  writeFileSync(join(home, "odd.yaml"), JSON.stringify(ODD));
  server = await viewerDaemon("--web", "tcp:127.0.0.1:0", "--scene", `${SCENES}/tower.yaml`, "--scene",
    `${SCENES}/mixed.yaml`, "--scene", `${SCENES}/pyramid.yaml`, "--scene", `${SCENES}/planar.yaml`, "--scene",
    join(home, "odd.yaml"));
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
async function open(hash = "", { shadows = false, at = server.page } = {}) {
  const page = await browser.newPage({ viewport: VIEW });
  page.wrong = [];
  page.elsewhere = [];
  page.on("pageerror", (error) => page.wrong.push(error.message));
  page.on("request", (request) => {
    if (!request.url().startsWith(at) && !request.url().startsWith("data:"))
      page.elsewhere.push(request.url());
  });
  await page.goto(at + hash);
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

/** Waits for as many pictures. */
const pictures = (page, count = 2) => page.evaluate(async (n) => {
  for (let i = 0; i < n; i++) await new Promise((resolve) => { requestAnimationFrame(resolve); });
}, count);

const distance = (a, b) => Math.max(...a.map((v, i) => Math.abs(v - b[i])));

test("the page loads from the daemon alone and shows the world's numbers", async () => {
  const page = await open();
  await page.waitForFunction(() => cairn.statistics.values.tick > 0 && cairn.statistics.values.kilobits > 0);
  assert.match(await page.textContent("#state"), /^observer, soft-step, running$/);
  assert.match(await page.textContent("#statistics"), /Tick\d+Bodies\d+/);
  await page.waitForFunction(() => cairn.statistics.values.lag > 0 && cairn.statistics.values.dilation > 0);
  for (const name of ["Time", "Bandwidth", "Lag"])
    assert.match(await page.textContent("#statistics"), new RegExp(`${name}[\\d.]+ `));
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

for (const [world, kinds] of [["odd", ["solid", "box", "plane"]], ["planar", ["polygon"]]])
  test(`${kinds} of ${world} are drawn where they are, and as large`, async () => {
    const page = await open(`#world=${world}`);
    const seen = await page.evaluate(() => {
      const found = [];
      cairn.stage.scene.traverse((o) => {
        if (!o.userData.batch) return;
        o.geometry.computeBoundingBox();
        const { min, max } = o.geometry.boundingBox;
        found.push({ kind: o.userData.batch.kind, count: o.count, size: max.clone().sub(min).toArray(),
          at: Array.from({ length: o.count }, (_, i) => Array.from(o.instanceMatrix.array.subarray(i * 16 + 12, i * 16 + 15))) });
      });
      return found;
    });
    assert.deepEqual([...new Set(seen.map(({ kind }) => kind))].sort(), [...kinds].sort());
    if (world === "odd") {
      const { size, at } = seen.find(({ kind }) => kind === "solid");
      assert.ok(distance(size, [2, 1, 2]) < 1e-6, `${size}`);
      assert.ok(distance(at[0], [0, 0, 0]) < 0.1, `${at}`);
      assert.equal(seen.find(({ kind }) => kind === "box").count, 2);
    }
    assert.deepEqual(page.wrong, []);
    await page.close();
  });

test("a body throws a shadow on the ground, and none where shadows are off", async () => {
  const page = await open("#world=odd", { shadows: true });
  // The far box's shadow falls away from the sun, to −x and −z.
  const spot = await page.evaluate(async () => {
    const { stage } = cairn;
    stage.controls.target.set(59.3, 0, -0.6);
    stage.camera.position.set(57, 4, -3);
    for (let i = 0; i < 3; i++) await new Promise((resolve) => { requestAnimationFrame(resolve); });
    const at = stage.controls.target.clone().project(stage.camera);
    return { x: ((at.x + 1) / 2) * innerWidth, y: ((1 - at.y) / 2) * innerHeight };
  });
  const dark = await pixel(page, spot);
  await page.click("#shadows");
  await pictures(page);
  const light = await pixel(page, spot);
  assert.ok(light[0] > dark[0] + 15, `${light} without shadows, ${dark} with`);
  await page.close();
});

test("dragging the empty picture turns the camera, the wheel brings it nearer, and a key brings it back", async () => {
  const page = await open("#world=pyramid");
  const camera = () => page.evaluate(() => {
    const { camera, controls } = cairn.stage, away = camera.position.clone().sub(controls.target);
    return { angle: Math.atan2(away.x, away.z), length: away.length() };
  });
  const first = await camera();
  await page.mouse.move(20, 200);
  await page.mouse.down();
  for (let i = 1; i <= 5; i++) await page.mouse.move(20 + 30 * i, 200);
  await page.mouse.up();
  await pictures(page, 4);
  const turned = await camera();
  assert.ok(Math.abs(turned.angle - first.angle) > 0.2, `${turned.angle} after ${first.angle}`);
  await page.mouse.move(320, 200);
  await page.mouse.wheel(0, -600);
  await page.waitForFunction((length) =>
    cairn.stage.camera.position.distanceTo(cairn.stage.controls.target) < length * 0.95, turned.length);
  await page.focus("#stage");
  await page.keyboard.press("r");
  await page.waitForFunction((length) =>
    Math.abs(cairn.stage.camera.position.distanceTo(cairn.stage.controls.target) - length) < length * 0.05, first.length);
  assert.deepEqual(page.wrong, []);
  await page.close();
});

test("the panel says what the chosen body touches and how hard, and the picture shows it", async () => {
  const page = await open("#world=odd");
  const id = await page.evaluate(() => {
    const { mirror } = cairn.link;
    return [...mirror.slots.keys()].find((k) => Math.abs(mirror.body(k).position[0] - 4) < 0.5);
  });
  await page.evaluate((k) => { cairn.choose(k); }, id);
  await page.waitForFunction(() => cairn.inspector.touching.length === 1 && cairn.contacts.forces.visible);
  const { touching, count, table } = await page.evaluate(() => ({
    touching: cairn.inspector.touching, count: cairn.contacts.count, table: document.getElementById("touching").innerText,
  }));
  // It lies upon the floor with its weight.
  assert.equal(touching[0].points, 4);
  assert.ok(Math.abs(touching[0].force - 2 * 9.81) < 0.5, JSON.stringify(touching));
  assert.equal(count, 4);
  assert.match(table, /19\.\d+ N/);
  await page.click("#leave");
  await page.waitForFunction(() => !cairn.contacts.points.visible);
  await page.close();
});

test("the camera goes along with a body that is followed", async () => {
  const page = await open(`#world=odd&token=${encodeURIComponent(TOKEN)}`);
  await page.evaluate(async () => {
    const { mirror } = cairn.link;
    cairn.choose([...mirror.slots.keys()].find((k) => Math.abs(mirror.body(k).position[0] - 4) < 0.5));
  });
  await page.focus("#stage");
  await page.keyboard.press("f");
  assert.equal(await page.getAttribute("#follow", "aria-pressed"), "true");
  await pictures(page);
  const from = await page.evaluate(() => cairn.stage.controls.target.toArray());
  await page.keyboard.press("p");
  await page.waitForFunction(([x, y, z]) => {
    const { target } = cairn.stage.controls;
    return Math.hypot(target.x - x, target.y - y, target.z - z) > 0.2;
  }, from);
  assert.deepEqual(page.wrong, []);
  await page.close();
});

test("only what one sees is asked for, and everything again", async () => {
  const page = await open("#world=odd");
  const all = await page.evaluate(() => cairn.link.mirror.count);
  await page.evaluate(() => {
    cairn.stage.controls.target.set(4, 0, 0);
    cairn.stage.camera.position.set(4, 3, 8);
  });
  await page.click("#focus");
  // The far box is not in the picture; the floor stays, wherever its origin is.
  await page.waitForFunction((count) => cairn.link.mirror.count === count - 1, all);
  assert.equal(await page.evaluate(() =>
    [...cairn.link.mirror.slots.values()].some((slot) => cairn.link.mirror.status[slot * 2] === 1)), true);
  await page.waitForFunction(() => document.getElementById("statistics").innerText.includes("3 of 4"));
  await page.evaluate(() => {
    cairn.stage.controls.target.set(60, 0, 0);
    cairn.stage.camera.position.set(60, 3, 8);
  });
  await page.waitForFunction(() => {
    const { mirror } = cairn.link;
    return mirror.count === 2 && [...mirror.slots.keys()].some((k) => mirror.body(k).position[0] > 50);
  });
  await page.click("#focus");
  await page.waitForFunction((count) => cairn.link.mirror.count === count, all);
  assert.deepEqual(page.wrong, []);
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
  await page.waitForFunction(() => !cairn.contacts.points.visible && !cairn.contacts.forces.visible);
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
  await page.waitForFunction(() => document.getElementById("state").textContent.startsWith("auth"));
  assert.equal(await page.getAttribute("#state", "data-state"), "lost");
  // In words, and what to do about it; it is not tried again by itself.
  await page.waitForFunction(() => !document.getElementById("banner").hidden);
  assert.match(await page.textContent("#banner"), /token.*wrong, used or expired/i);
  assert.equal(await page.isVisible("#again"), true);
  await page.close();
});

test("on a small screen nothing lies upon anything else", async () => {
  const page = await open(CONTROLLER);
  for (const [width, height] of [[390, 760], [800, 500], [1280, 720]]) {
    await page.setViewportSize({ width, height });
    await page.evaluate(() => { cairn.choose([...cairn.link.mirror.slots.keys()].at(-1)); });
    await pictures(page, 3);
    const boxes = (await Promise.all(["header", "#pace", "#inspector", "#statistics", "#help"].map(async (name) =>
      ({ name, box: await page.locator(name).boundingBox() })))).filter(({ box }) => box !== null);
    for (const { name, box } of boxes)
      assert.ok(box.x >= 0 && box.y >= 0 && box.x + box.width <= width + 1 && box.y + box.height <= height + 1,
        `${name} of ${width} × ${height}: ${JSON.stringify(box)}`);
    for (const [i, a] of boxes.entries())
      for (const b of boxes.slice(i + 1))
        assert.ok(a.box.x + a.box.width <= b.box.x || b.box.x + b.box.width <= a.box.x ||
          a.box.y + a.box.height <= b.box.y || b.box.y + b.box.height <= a.box.y, `${a.name} and ${b.name} at ${width}`);
  }
  await page.close();
});

test("a cut in the network is a pause: the session goes on, without a snapshot", async () => {
  const door = await relay(null);
  const behind = await viewerDaemon("--web", "tcp:127.0.0.1:0", "--web-host", `127.0.0.1:${door.port}`, "--scene",
    `${SCENES}/tower.yaml`);
  door.to({ host: "127.0.0.1", port: Number(new URL(behind.page).port) });
  const page = await open("#world=tower", { at: `http://127.0.0.1:${door.port}/` });
  const before = await page.evaluate(() => {
    const { mirror, client } = cairn.link, take = mirror.take.bind(mirror);
    cairn.heard = [];
    cairn.kept = mirror;
    mirror.take = (message) => {
      cairn.heard.push(message.type);
      return take(message);
    };
    return { session: client.session, tick: mirror.tick };
  });
  for (let turn = 1; turn <= 2; turn++) {
    door.cut();
    await page.waitForFunction((n) => cairn.link.resumes === n && cairn.link.connected, turn);
    await page.waitForFunction((n) => cairn.heard.length > n, await page.evaluate(() => cairn.heard.length));
  }
  // Out of reach for longer: it is said, and then all is well.
  door.refuse(true);
  door.cut();
  await page.waitForFunction(() => !document.getElementById("banner").hidden);
  assert.match(await page.textContent("#banner"), /Trying again/);
  assert.equal(await page.getAttribute("#state", "data-state"), "lost");
  assert.ok(await page.evaluate(() => cairn.moment() !== null), "the last picture stays");
  door.refuse(false);
  // It may have come back by itself meanwhile, which hides the button.
  await page.evaluate(() => { document.getElementById("again").click(); });
  await page.waitForFunction(() => cairn.link.resumes === 3 && cairn.link.connected);
  await page.waitForFunction(() => document.getElementById("banner").hidden &&
    document.getElementById("state").dataset.state === "running");
  await page.waitForFunction((n) => cairn.heard.length > n, await page.evaluate(() => cairn.heard.length));
  const after = await page.evaluate(() => ({
    session: cairn.link.client.session, same: cairn.link.mirror === cairn.kept, heard: [...new Set(cairn.heard)],
    tick: cairn.link.mirror.tick,
  }));
  assert.deepEqual(after, { session: before.session, same: true, heard: ["delta"], tick: after.tick });
  assert.ok(after.tick > before.tick);
  assert.deepEqual(page.wrong, []);
  await page.close();
  door.close();
  await behind.stop();
});

test("a world that ends is left for another, and a server without one is waited for", async () => {
  const page = await open("#world=odd");
  const admin = await connect(server.address);
  const worlds = await admin.list(), gone = worlds.find(({ name }) => name === "odd");
  await admin.request("world_destroy", { world: gone.world }, "reply");
  await page.waitForFunction(() => cairn.link.world && cairn.link.world.name !== "odd" && cairn.link.mirror?.count > 1);
  assert.equal(await page.locator("#world option", { hasText: "odd" }).count(), 0);
  admin.close();
  assert.deepEqual(page.wrong, []);
  await page.close();
  const bare = await viewerDaemon("--web", "tcp:127.0.0.1:0");
  const waiting = await browser.newPage({ viewport: VIEW });
  await waiting.goto(bare.page);
  await waiting.waitForFunction(() => !document.getElementById("banner").hidden);
  assert.match(await waiting.textContent("#banner"), /no world yet/);
  const maker = await connect(bare.address);
  await (await maker.create("new")).spawn({});
  await waiting.waitForFunction(() => cairn.link.mirror?.count === 1 && document.getElementById("banner").hidden);
  maker.close();
  await waiting.close();
  await bare.stop();
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
