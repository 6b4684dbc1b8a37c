/** What a visitor meets in the first minute: keys and texts, restart and throw, framing, lists, plots and links. */
import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { daemon } from "../../js/test/daemon.js";
import { command } from "../../js/src/commands.js";
import { reachOf } from "../src/address.js";
import { search } from "../src/bodies.js";
import { TOKEN, launch, withoutWebGL, writeTokens } from "./browser.js";

const SCENES = `${process.env.CAIRN_SRCDIR}/clients/scenes`;
const CONTROLLER = `token=${encodeURIComponent(TOKEN)}`;
let server, browser, home, address;
/** The page that most tests share, because a new one compiles all shaders in software. */
let common;

before(async () => {
  home = mkdtempSync(join(tmpdir(), "cairn-faces-"));
  server = await daemon("--web", "tcp:127.0.0.1:0", "--web-files", "dist", "--tokens", writeTokens(home), "--paused", "--data", join(home, "data"),
    ...["tower", "pyramid", "planar"].flatMap((name) => ["--scene", `${SCENES}/${name}.yaml`]));
  address = await server.logged(/listening address=(http:\S+)/);
  browser = await launch();
  common = await open(`world=pyramid&${CONTROLLER}`);
});
after(async () => {
  await browser?.close();
  await server?.stop();
  rmSync(home, { recursive: true, force: true });
});

/** Opens the page; it has the first picture of a world unless `ready` is false. page.wrong collects its errors. */
async function open(hash, { width = 640, height = 400, ready = true, script = true, init = null, more = {} } = {}) {
  const context = await browser.newContext({ viewport: { width, height }, javaScriptEnabled: script, ...more });
  const page = await context.newPage();
  page.wrong = [];
  page.on("pageerror", (error) => page.wrong.push(error.message));
  page.on("console", (line) => { if (line.type() === "error") page.wrong.push(line.text()); });
  if (init !== null) await page.addInitScript(init);
  await page.goto(`${address}#${hash}`);
  if (ready) await page.evaluate(() => { document.getElementById("shadows").click(); }); // which take long in software
  if (ready)
    await page.waitForFunction(() => window.cairn?.moment() && cairn.link.mirror?.count > 1 && cairn.framed());
  page.done = () => context.close();
  return page;
}

/**
 * The shared page joins the world of `hash` as a page does that has just been opened, with nothing open, pressed or chosen; it has
 * the world's first picture.
 */
async function enter(hash, { width = 640, height = 400 } = {}) {
  const page = common;
  page.wrong.length = 0;
  await page.setViewportSize({ width, height });
  await page.evaluate(async (text) => {
    for (const id of ["joints", "contacts", "fields"]) if (document.getElementById(id).checked) document.getElementById(id).click();
    for (const button of document.querySelectorAll("#bar [aria-pressed=true], #bar [aria-expanded=true]")) button.click();
    history.replaceState(null, "", `#${text}`);
    cairn.link.options = new URLSearchParams(text);
    await cairn.link.join(cairn.link.options.get("world"));
  }, `${hash}&${CONTROLLER}`);
  await page.waitForFunction(() => cairn.moment() && cairn.link.mirror?.count > 1 && cairn.framed());
  return page;
}

/** Waits until `count` pictures in a row were not drawn, because nothing had changed: the camera rests, too. */
const settled = (page, count = 1) => page.evaluate((wanted) => new Promise((done) => {
  const { statistics } = cairn, before = statistics.picture;
  let still = 0;
  statistics.picture = function count(...of) {
    before.apply(statistics, of);
    still = of.at(-1) ? 0 : still + 1;
    if (still < wanted) return;
    statistics.picture = before;
    done();
  };
}), count);

test("keys act with Caps Lock on, and ? lists all of them on a small screen", async () => {
  const page = await enter("world=pyramid", { width: 390, height: 760 });
  assert.equal(await page.isVisible("#help"), false);
  await page.keyboard.press("Shift+?");
  assert.equal(await page.isVisible("#keys"), true);
  const box = await page.locator("#keys").boundingBox();
  assert.ok(box.x >= 0 && box.y >= 0 && box.x + box.width <= 390 && box.y + box.height <= 760, JSON.stringify(box));
  assert.match(await page.textContent("#keys"), /pause or resume.*asleep/s);
  await page.keyboard.press("j"); // not while the list is open
  assert.equal(await page.isChecked("#joints"), false);
  await page.keyboard.press("Escape");
  assert.equal(await page.isVisible("#keys"), false);
  await page.waitForFunction(() => document.activeElement.id === "stage");
  await page.keyboard.press("J"); // as with Caps Lock
  assert.equal(await page.isChecked("#joints"), true);
  assert.deepEqual(page.wrong, []);
});

test("the page has a title, a description and an icon; without scripts or WebGL it says what to do", async () => {
  const plain = await open("", { ready: false, script: false });
  assert.match(await plain.title(), /Cairn/);
  assert.match(await plain.getAttribute("meta[name=description]", "content"), /physics/);
  assert.match(await plain.getAttribute("link[rel=icon]", "href"), /^data:image\/svg\+xml,.+/);
  assert.match(await plain.innerText("noscript"), /Allow scripts/);
  await plain.done();
  const flat = await open("", { ready: false, init: withoutWebGL });
  await flat.waitForSelector("#unavailable:not([hidden])");
  assert.match(await flat.textContent("#unavailable"), /WebGL 2/);
  await flat.done();
});

test("pictures are drawn only when something changes", async () => {
  const page = await enter("world=pyramid");
  const drawn = () => page.evaluate(() => cairn.stage.renderer.info.render.frame);
  await settled(page);
  const still = await drawn();
  await settled(page, 3); // a page at rest makes four a second
  assert.equal(await drawn(), still, "a paused world is not drawn again");
  await page.mouse.move(20, 300);
  await page.mouse.down();
  await page.mouse.move(120, 300, { steps: 4 });
  await page.mouse.up();
  await page.waitForFunction((before) => cairn.stage.renderer.info.render.frame > before + 2, still);
  await settled(page);
  const turned = await drawn();
  await page.evaluate(() => cairn.link.world.step(3));
  await page.waitForFunction((before) => cairn.stage.renderer.info.render.frame > before, turned);
  await page.waitForFunction(() => cairn.playback.playhead === cairn.link.mirror.tick);
  await page.evaluate(() => cairn.choose([...cairn.link.mirror.slots.keys()].at(-1)));
  const chosen = await drawn();
  await page.waitForFunction((before) => cairn.stage.renderer.info.render.frame > before, chosen);
  assert.deepEqual(page.wrong, []);
});

test("a demonstration starts when it is seen; a thrown ball arrives; a restart returns to the beginning", async () => {
  const page = await enter("world=tower&start=seen");
  await page.waitForFunction(() => cairn.link.world.mode === "running" && cairn.link.mirror.tick > 2);
  await page.click("#pause");
  await page.waitForFunction(() => cairn.link.world.mode === "paused");
  const bodies = await page.evaluate(() => cairn.link.mirror.count);
  await page.focus("#stage");
  await page.keyboard.press("b");
  assert.equal(await page.getAttribute("#throw", "aria-pressed"), "true");
  // At a brick in the middle of the picture.
  const aimed = await page.evaluate(() => cairn.crowd.pick(cairn.stage.rayAt(320, 220)).point.toArray());
  await page.mouse.click(320, 220);
  await page.waitForFunction((before) => cairn.link.mirror.count === before + 1, bodies);
  const flight = await page.evaluate(async (to) => {
    const { link, stage } = cairn, { mirror } = link, id = Math.max(...mirror.slots.keys());
    const aim = stage.controls.target.clone().fromArray(to);
    let nearest = Infinity, first = null;
    for (let i = 0; i < 10; i++) {
      const at = stage.controls.target.clone().fromArray(mirror.body(id).position);
      first ??= at.distanceTo(aim);
      nearest = Math.min(nearest, at.distanceTo(aim));
      await link.world.step(i === 0 ? 25 : 1);
    }
    return { first, nearest };
  }, aimed);
  assert.ok(flight.first > 5 && flight.nearest < 2, JSON.stringify(flight));
  await page.click("#restart");
  await page.waitForFunction((count) => cairn.link.mirror.tick === 0 && cairn.link.mirror.count === count, bodies);
  await page.evaluate(() => cairn.choose(Math.max(...cairn.link.mirror.slots.keys())));
  await page.focus("#stage");
  await page.keyboard.press("Delete");
  await page.waitForFunction((count) => cairn.link.mirror.count === count - 1, bodies);
  assert.deepEqual(page.wrong, []);
});

/** What a first view has to show on the screen, as one box of pixels: {left, right, top, bottom}, and the bar's lower edge. */
const subject = (page) => page.evaluate(() => {
  const { link, crowd, stage } = cairn, xs = [], ys = [];
  for (const { min, max } of crowd.subject(link.mirror))
    for (const x of [min.x, max.x])
      for (const y of [min.y, max.y])
        for (const z of [min.z, max.z]) {
          const at = stage.controls.target.clone().set(x, y, z).project(stage.camera);
          xs.push(((at.x + 1) / 2) * innerWidth);
          ys.push(((1 - at.y) / 2) * innerHeight);
        }
  return { left: Math.min(...xs), right: Math.max(...xs), top: Math.min(...ys), bottom: Math.max(...ys),
    bar: document.getElementById("bar").getBoundingClientRect().bottom };
});

for (const [width, height] of [[1280, 800], [390, 844]])
  test(`the first view fills the part between the panels, and the camera stays above the ground, ${width} × ${height}`, async () => {
    const page = await enter("world=pyramid", { width, height });
    await settled(page);
    const box = await subject(page);
    assert.ok(box.left >= 0 && box.right <= width && box.top >= box.bar && box.bottom <= height, JSON.stringify(box));
    assert.ok(box.right - box.left > width * 0.75 || box.bottom - box.top > (height - box.bar) * 0.6, JSON.stringify(box));
    assert.ok(Math.abs(box.left + box.right - width) < 0.01 * width, `in the middle: ${JSON.stringify(box)}`);
    await page.focus("#stage");
    for (let i = 0; i < 20; i++) await page.keyboard.press("ArrowDown");
    await settled(page);
    assert.ok(await page.evaluate(() => cairn.stage.camera.position.y) > 0.05);
    const away = () => page.evaluate(() => cairn.stage.camera.position.distanceTo(cairn.stage.controls.target));
    const before = await away();
    await page.keyboard.press("+");
    await settled(page);
    assert.ok(await away() < before * 0.95);
    const target = await page.evaluate(() => cairn.stage.controls.target.toArray());
    await page.keyboard.press("r");
    await settled(page);
    await page.mouse.dblclick(width * 0.5, box.bottom - 5);
    await page.waitForFunction((old) => cairn.stage.controls.target.toArray().some((v, i) => Math.abs(v - old[i]) > 0.1), target);
    assert.deepEqual(page.wrong, []);
  });

test("a search is words that begin one of a body's, and comparisons", () => {
  const body = { id: 17, status: "dynamic", asleep: false, position: [0, 3, 0], velocity: [3, 4, 0], spin: [0, 0, 0], tag: 7, owner: 0 };
  const holds = (text) => search(text).test(body, ["box"]);
  for (const text of ["", "17", "box", "BOX dyn", "speed>4.9 speed<=5", "y=3 tag>=7", "awake"]) assert.equal(holds(text), true, text);
  for (const text of ["18", "sphere", "box asleep", "speed>5", "y<3"]) assert.equal(holds(text), false, text);
  assert.equal(search("box hue>3").wrong, "hue>3");
});

test("bodies are found and chosen in the list, and the plots show and export the world's energy", async () => {
  const page = await enter("world=pyramid", { width: 1280, height: 800 });
  await page.click("#list");
  await page.fill("#search", "box y<1");
  await page.waitForFunction(() => document.querySelectorAll("#found button").length === 20);
  await page.locator("#found button").nth(4).click();
  const id = await page.evaluate(() => cairn.inspector.id);
  assert.equal(await page.locator("#found button[aria-pressed=true]").or(page.locator(`#found button[data-id="${id}"]`)).count(), 1);
  await page.click("#plot");
  assert.equal(await page.isVisible("#bodies"), false);
  for (let i = 0; i < 3; i++) {
    await page.evaluate(() => cairn.link.world.step(2));
    await page.waitForFunction((n) => cairn.plots.samples.length > n, i);
  }
  const [samples, totals] = await page.evaluate(async () => [cairn.plots.samples, await cairn.link.world.totals()]);
  assert.ok(Math.abs(samples.at(-1).potential - totals.potential) < 1e-6 * Math.abs(totals.potential));
  // The deepest overlap is that of the contacts; the plots ask for it once a second, while it changes with the ticks. The
  // step's counters are the server's.
  await page.evaluate(async () => {
    const { world } = cairn.link, end = Date.now() + 120000;
    for (;;) {
      await world.step(1);
      const contacts = await world.contacts(0, 1024), deepest = Math.max(...contacts.map(({ separation }) => -separation * 1000));
      const { penetration, step_us: time } = cairn.plots.samples.at(-1);
      if (time > 0 && penetration > 0 && Math.abs(penetration - deepest) < 0.1) return;
      if (Date.now() > end) throw new Error(JSON.stringify({ plotted: cairn.plots.samples.at(-1), deepest }));
      await new Promise((resolve) => { setTimeout(resolve, 300); });
    }
  });
  const { plotted, residual } = await page.evaluate(async () => {
    const { world, client } = cairn.link, plotted = cairn.plots.samples.at(-1), { worlds } = await client.info("worlds");
    return { plotted, residual: worlds.find(({ name }) => name === world.name).residual };
  });
  assert.ok(Number.isFinite(plotted.residual) && Number.isFinite(residual) && plotted.step_us < 1e6, JSON.stringify({ plotted, residual }));
  await page.waitForFunction(() => cairn.plots.samples.at(-1).tick === cairn.link.mirror.tick); // no more come
  samples.splice(0, samples.length, ...await page.evaluate(() => cairn.plots.samples));
  const [download] = await Promise.all([page.waitForEvent("download"), page.click("#export")]);
  const lines = readFileSync(await download.path(), "utf8").trim().split("\n");
  assert.equal(lines[0], "tick,kinetic,potential,momentum,speed,penetration,residual,step_us,bandwidth");
  assert.equal(lines.length, samples.length + 1);
  assert.equal(lines.at(-1).split(",")[0], String(samples.at(-1).tick));
  assert.deepEqual(page.wrong, []);
});

test("the address says the joined world; a link carries world, camera and tick; the menu follows the server", async () => {
  const page = await enter("world=nowhere");
  assert.match(await page.textContent("#note"), /There is no world “nowhere” here; this is “tower”/);
  assert.match(page.url(), /world=tower/);
  await page.selectOption("#world", "pyramid");
  await page.waitForFunction(() => cairn.link.mirror?.count === 211 && cairn.framed() &&
    location.hash.includes("world=pyramid"));
  await page.evaluate(() => {
    cairn.stage.controls.target.set(1, 2, 3);
    cairn.stage.camera.position.set(4, 5, 20);
    navigator.clipboard.writeText = async (text) => { cairn.copied = text; };
  });
  const tick = await page.evaluate(async () => { await cairn.link.world.step(4); return cairn.link.world.tick; });
  await page.waitForFunction((n) => cairn.link.mirror.tick === n, tick);
  await page.click("#share");
  const copied = await page.evaluate(() => cairn.copied);
  // The test's server listens on this machine only, so the link alone does not reach it from another one.
  await page.waitForFunction((port) => document.getElementById("note").textContent.includes(`ssh -N -L ${port}:127.0.0.1:${port}`), new URL(address).port);
  assert.equal(reachOf(new URL("https://cairn.example/")), "");
  for (const local of ["http://localhost:80/", "http://[::1]/"]) assert.match(reachOf(new URL(local)), / 80:127\.0\.0\.1:80 /);
  assert.ok(!copied.includes("token") && copied.startsWith(address), copied);
  await page.evaluate(() => cairn.link.world.step(3));
  const other = await open(copied.slice(copied.indexOf("#") + 1));
  await other.waitForFunction((n) => cairn.link.mirror.tick === n && cairn.timeline.where?.tick === n, tick);
  const view = await other.evaluate(() => [...cairn.stage.camera.position.toArray(), ...cairn.stage.controls.target.toArray()]);
  assert.ok([4, 5, 20, 1, 2, 3].every((v, i) => Math.abs(v - view[i]) < 1e-3), `${view}`);
  await page.evaluate(() => cairn.link.client.create("fresh").catch((error) => { cairn.why = error.message; }));
  await other.waitForFunction(() => [...document.getElementById("world").options].some(({ value }) => value === "fresh"));
  assert.deepEqual([page.wrong, other.wrong], [[], []]);
  await other.done();
});

/** The contrast of two colours "rgb(…)" by the rule of the Web Content Accessibility Guidelines. */
function contrast(a, b) {
  const light = (text) => {
    const [r, g, b_] = text.match(/[\d.]+/g).slice(0, 3).map((v) => v / 255).map((v) => (v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b_;
  };
  const [high, low] = [light(a), light(b)].sort((x, y) => y - x);
  return (high + 0.05) / (low + 0.05);
}

test("texts are readable, controls are named and large enough for fingers, light and dark", async () => {
  const page = await open(`world=planar&${CONTROLLER}`, { width: 390, height: 844, more: { hasTouch: true, isMobile: true } });
  for (const colorScheme of ["light", "dark"]) {
    await page.emulateMedia({ colorScheme });
    assert.equal(await page.evaluate((wanted) => matchMedia(`(prefers-color-scheme: ${wanted})`).matches, colorScheme), true);
    const seen = await page.evaluate(() => [...document.querySelectorAll("button, select, input, a")]
      .filter((control) => control.checkVisibility()).map((control) => {
        const { width, height } = (control.closest("label") ?? control).getBoundingClientRect(), style = getComputedStyle(control);
        return { id: control.id, width, height, colour: style.color, back: style.backgroundColor,
          name: control.ariaLabel ?? (control.labels?.[0] ?? control).textContent.trim() };
      }));
    assert.ok(seen.length > 12, `${seen.length} controls`);
    for (const { id, width, height, colour, back, name } of seen) {
      assert.ok(name.length > 0, `${id} has a name`);
      assert.ok(width >= 43.9 && height >= 43.9, `${id}: ${width} × ${height}`);
      if (back.startsWith("rgb(")) assert.ok(contrast(colour, back) >= 4.5, `${id}: ${colour} on ${back}`);
    }
    const panel = await page.evaluate(() => [getComputedStyle(document.querySelector("#statistics dt")).color,
      getComputedStyle(document.getElementById("statistics")).backgroundColor]);
    assert.ok(contrast(...panel) >= 4.5, `${colorScheme}: ${panel}`);
  }
  assert.deepEqual(page.wrong, []);
  await page.done();
});

test("a picture and a video are saved as files that begin as such", async () => {
  const page = await enter("world=pyramid");
  const file = async (press) => {
    const [download] = await Promise.all([page.waitForEvent("download"), press()]);
    return { name: download.suggestedFilename(), bytes: readFileSync(await download.path()) };
  };
  const picture = await file(() => page.click("#picture"));
  assert.match(picture.name, /^pyramid-\d+\.png$/);
  assert.equal(picture.bytes.subarray(1, 4).toString(), "PNG");
  await page.click("#video");
  assert.equal(await page.getAttribute("#video", "aria-pressed"), "true");
  const before = await page.evaluate(() => cairn.stage.renderer.info.render.frame);
  await page.evaluate(() => cairn.link.world.step(5));
  await page.waitForFunction((old) => cairn.stage.renderer.info.render.frame > old &&
    cairn.playback.playhead === cairn.link.mirror.tick, before);
  await settled(page);
  const video = await file(() => page.click("#video"));
  assert.match(video.name, /^pyramid-\d+\.(webm|mp4)$/);
  assert.ok(video.bytes.length > 1000, `${video.bytes.length} bytes`);
  assert.deepEqual(page.wrong, []);
});

test("a planar world is seen from the front without perspective: a click hits what is drawn there, the wheel makes it larger", async () => {
  const page = await enter("world=planar", { width: 900, height: 560 });
  const look = () => page.evaluate(() => {
    const { stage, link, crowd } = cairn, { slots, position } = link.mirror;
    stage.move();
    stage.camera.updateMatrixWorld();
    // The topmost body, which no other one hides.
    const id = [...slots.keys()].filter((k) => link.mirror.body(k).status === "dynamic")
      .reduce((top, k) => (position[slots.get(k) * 3 + 1] > position[slots.get(top) * 3 + 1] ? k : top));
    const at = (z) => stage.controls.target.clone().fromArray(position, slots.get(id) * 3).setZ(z).project(stage.camera);
    const [front, back, middle] = [0.25, -0.25, 0].map(at);
    return { id, apart: Math.hypot(front.x - back.x, front.y - back.y), planar: crowd.planar, x: ((middle.x + 1) / 2) * innerWidth,
      y: ((1 - middle.y) / 2) * innerHeight, tall: at(0).y - stage.controls.target.clone().project(stage.camera).y,
      way: stage.camera.getWorldDirection(stage.controls.target.clone()).toArray() };
  });
  const first = await look();
  assert.equal(first.planar, true);
  assert.ok(first.apart < 1e-9, `front and back of a body are ${first.apart} apart`);
  assert.ok(Math.abs(first.way[2] + 1) < 1e-9, `${first.way}`);
  await page.mouse.click(first.x, first.y);
  await page.waitForFunction((id) => cairn.inspector.id === id, first.id);
  await page.evaluate(() => cairn.stage.approach(0.5));
  const nearer = await look();
  assert.ok(Math.abs(nearer.tall / first.tall - 2) < 1e-6, "at half the distance it is twice as large");
  await enter("world=pyramid");
  assert.equal(await page.evaluate(() => cairn.stage.camera.flat), false);
  assert.deepEqual(page.wrong, []);
});

test("a sensor is drawn as glass with an outline, and edges share the poses of their bodies", async () => {
  const page = await enter("world=pyramid");
  await page.evaluate((set) => cairn.link.world.send(set), command("set_filter", { body: 211, category: 1, mask: 2 ** 32 - 1, group: 0, sensor: 2 }));
  const batches = () => page.evaluate(() => {
    const found = [];
    cairn.stage.scene.traverse(({ userData: { batch } }) => { if (batch?.kind === "box") found.push(batch); });
    return found.map(({ sensor, mesh, edges, material }) => ({ sensor, count: mesh.count, lines: edges.geometry.instanceCount,
      shared: edges.geometry.attributes.place === mesh.geometry.attributes.place && edges.geometry.attributes.turn === mesh.geometry.attributes.turn, opacity: material.opacity, shadow: mesh.castShadow }));
  });
  await page.waitForFunction(() => {
    let glass = 0;
    cairn.stage.scene.traverse(({ userData: { batch } }) => { if (batch?.sensor) glass = batch.mesh.count; });
    return glass === 1;
  });
  const [solid, glass] = (await batches()).sort((a, b) => b.count - a.count);
  assert.deepEqual([solid.sensor, solid.count, solid.lines, solid.shared, solid.opacity, solid.shadow], [false, 209, 209, true, 1, true]);
  assert.deepEqual([glass.sensor, glass.count, glass.lines, glass.shared, glass.shadow], [true, 1, 1, true, false]);
  assert.ok(glass.opacity < 0.4);
  assert.deepEqual(page.wrong, []);
});

test("bodies have the colours of their scene, and one that a command gives", async () => {
  const page = await enter("world=tower");
  await page.click("#restart"); // another test has removed the ball
  await page.waitForFunction(() => cairn.link.mirror.count === 194 && cairn.crowd.colourGiven(194) !== undefined);
  await settled(page);
  const drawn = () => page.evaluate(() => {
    const found = new Set();
    cairn.stage.scene.traverse(({ userData: { batch } }) => {
      if (batch === undefined || batch.kind === "plane") return;
      for (let i = 0; i < batch.mesh.count; i++) {
        const colour = cairn.stage.scene.fog.color.clone();
        batch.mesh.colourAt(i, colour);
        found.add(`${batch.kind} ${colour.getHexString()}`);
      }
    });
    return [...found].sort();
  });
  assert.deepEqual(await drawn(), ["af6b45", "b5764a", "c08552", "c48b5b", "cb9462"].map((hex) => `box ${hex}`).concat("sphere 3d4450"));
  await page.evaluate((set) => cairn.link.world.send(set), command("set_colour", { body: 194, colour: 0x00ff00 }));
  await page.waitForFunction(() => cairn.crowd.colourGiven(194) === 0x00ff00);
  await page.waitForFunction((before) => cairn.stage.renderer.info.render.frame > before,
    await page.evaluate(() => cairn.stage.renderer.info.render.frame - 1));
  await settled(page);
  assert.ok((await drawn()).includes("sphere 00ff00"));
  await page.evaluate((set) => cairn.link.world.send(set), command("set_colour", { body: 194, colour: 0, given: 0 }));
  await page.waitForFunction(() => cairn.crowd.colourGiven(194) === undefined);
  assert.deepEqual(page.wrong, []);
});

test("a page whose token is refused offers to look on without it", async () => {
  const page = await open("world=planar&token=wrong", { ready: false });
  await page.waitForSelector("#look-on:not([hidden])");
  await page.click("#look-on");
  await page.waitForFunction(() => cairn.link.client?.role === "observer" && cairn.link.mirror?.count > 1);
  assert.equal(await page.isVisible("#banner"), false);
  assert.ok(!page.url().includes("token"));
  assert.deepEqual(page.wrong, []);
  await page.done();
});
