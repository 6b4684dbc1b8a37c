/** Layers of the page: velocities, frames, boxes, carriers, islands, sleep. */
import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { command } from "../../js/src/commands.js";
import * as shapes from "../../js/src/shapes.js";
import { daemon } from "../../js/test/daemon.js";
import { islandsOf } from "../src/islands.js";
import { TOKEN, launch, writeTokens } from "./browser.js";

let server, browser, home, page;
const wrong = [];

before(async () => {
  home = mkdtempSync(join(tmpdir(), "cairn-layers-"));
  server = await daemon("--web", "tcp:127.0.0.1:0", "--web-files", "dist", "--tokens", writeTokens(home), "--paused",
    "--scene", `${process.env.CAIRN_SRCDIR}/clients/scenes/falling.yaml`, "--scene", `${process.env.CAIRN_SRCDIR}/clients/scenes/bricks.yaml`);
  const address = await server.logged(/listening address=(http:\S+)/);
  browser = await launch();
  page = await (await browser.newContext({ viewport: { width: 800, height: 500 } })).newPage();
  page.on("pageerror", (error) => wrong.push(error.message));
  page.on("console", (line) => { if (line.type() === "error") wrong.push(line.text()); });
  await page.goto(`${address}#world=falling&token=${encodeURIComponent(TOKEN)}`);
  await page.waitForFunction(() => window.cairn?.moment() && cairn.framed());
  await page.click("#layer");
});
after(async () => {
  await browser?.close();
  await server?.stop();
  rmSync(home, { recursive: true, force: true });
});

/** Ends of the lines that are drawn: [[x, y, z, x, y, z], …], after a picture. */
async function lines() {
  await page.waitForFunction((old) => cairn.stage.renderer.info.render.frame > old,
    await page.evaluate(() => { cairn.layers.version++; cairn.wake(); return cairn.stage.renderer.info.render.frame; }));
  return page.evaluate(() => Array.from({ length: cairn.layers.count }, (_, i) =>
    Array.from(cairn.layers.lines.geometry.attributes.position.array.subarray(i * 6, i * 6 + 6))));
}
const near = (a, b, off = 1e-3) => a.every((v, i) => Math.abs(v - b[i]) < off);

test("velocities are arrows of a quarter of a second, frames the axes of bodies, boxes hold their corners", async () => {
  await page.check("[name=velocity]");
  const [arrow, ...heads] = await lines();
  // Of two bodies one is at rest: an arrow and its head.
  assert.equal(heads.length, 2);
  assert.ok(near(arrow, [1, 12, 0, 1, 12.25, 0.125]), `${arrow}`);
  for (const head of heads) assert.ok(near(head.slice(0, 3), arrow.slice(3)));
  await page.uncheck("[name=velocity]");
  await page.evaluate(() => cairn.link.world.step(20));
  await page.waitForFunction(() => cairn.playback.playhead === cairn.link.mirror.tick && cairn.link.mirror.tick === 20);
  await page.check("[name=frames]");
  const axes = await lines();
  assert.equal(axes.length, 6);
  const ways = axes.map((line) => [3, 4, 5].map((k) => line[k] - line[k - 3]));
  for (const three of [ways.slice(0, 3), ways.slice(3)])
    for (const [i, k] of [[0, 1], [1, 2], [2, 0]]) {
      const dot = three[i].reduce((sum, v, n) => sum + v * three[k][n], 0), length = Math.hypot(...three[i]);
      assert.ok(Math.abs(dot) < 1e-4 * length * length && Math.abs(Math.hypot(...three[k]) - length) < 1e-4 * length);
    }
  await page.uncheck("[name=frames]");
  await page.check("[name=boxes]");
  const edges = await lines();
  assert.equal(edges.length, 24);
  const ball = edges.slice(0, 12), position = await page.evaluate(() => cairn.link.mirror.body(1).position);
  for (let k = 0; k < 3; k++) {
    const ends = ball.flatMap((line) => [line[k], line[k + 3]]);
    assert.ok(Math.abs(Math.min(...ends) - position[k] + 0.5) < 0.02 && Math.abs(Math.max(...ends) - position[k] - 0.5) < 0.02);
  }
  await page.uncheck("[name=boxes]");
  await page.waitForFunction(() => cairn.layers.count === 0);
  assert.deepEqual(wrong, []);
});

test("islands are what contacts and joints connect, but not through static bodies; sleep is told apart", async () => {
  assert.deepEqual([...islandsOf([[1, 2], [3, 2], [5, 4], [9, 1], [9, 4]], (id) => id !== 9)].sort((a, b) => a[0] - b[0]),
    [[1, 1], [2, 1], [3, 1], [4, 4], [5, 4]]);
  await page.evaluate(async () => {
    const world = await cairn.link.client.create("stacks"), { shapes } = cairn;
    const ground = await world.shape(shapes.plane([0, 1, 0])), box = await world.shape(shapes.box(1, 1, 1));
    await world.spawn({ status: 1, shapes: [[ground]] });
    for (const x of [0, 5]) for (const y of [0.5, 1.5, 2.5]) await world.spawn({ position: [x, y, 0], shapes: [[box]] });
    await world.spawn({ position: [10, 0.5, 0], shapes: [[box]] });
    await world.step(10);
    await cairn.link.join("stacks");
  });
  await page.waitForFunction(() => cairn.framed() && cairn.link.mirror.count === 8);
  await page.check("[name=islands]");
  await page.waitForFunction(() => cairn.layers.islands === 2);
  assert.match(await page.textContent("#layers output[name=islands-why]"), /^2 islands/);
  const colours = () => page.evaluate(() => {
    const found = {};
    cairn.stage.scene.traverse(({ userData: { batch } }) => {
      if (batch?.kind !== "box") return;
      for (let i = 0; i < batch.mesh.count; i++) {
        const colour = cairn.stage.scene.fog.color.clone();
        batch.mesh.colourAt(i, colour);
        found[batch.shown[i].id] = colour.getHexString();
      }
    });
    return found;
  });
  await lines();
  const islands = await colours();
  assert.equal(islands[2], islands[3]);
  assert.equal(islands[2], islands[4]);
  assert.equal(islands[5], islands[7]);
  assert.equal(new Set([islands[2], islands[5], islands[8]]).size, 3);
  await page.check("[name=sleep]");
  assert.equal(await page.isChecked("[name=islands]"), false);
  await lines();
  assert.deepEqual([...new Set(Object.values(await colours()))], ["e0843a"]);
  await page.evaluate(() => cairn.link.world.step(400));
  await page.waitForFunction(() => cairn.link.mirror.body(8)?.asleep && cairn.playback.playhead === cairn.link.mirror.tick);
  await lines();
  assert.deepEqual([...new Set(Object.values(await colours()))], ["4a78b8"]);
  if (process.env.CAIRN_PICTURES) {
    for (const name of ["velocity", "frames", "boxes", "islands"]) await page.check(`[name=${name}]`);
    await page.waitForFunction(() => cairn.layers.islands === 2);
    await lines();
    await page.screenshot({ path: `${process.env.CAIRN_PICTURES}/layers.png` });
  }
  assert.deepEqual(wrong, []);
});

test("points that carry bodies are marked and joined with them", async () => {
  await page.evaluate(() => cairn.link.join("bricks"));
  await page.waitForFunction(() => cairn.framed() && cairn.link.world.name === "bricks");
  for (const name of await page.$$eval("#layers input:checked", (boxes) => boxes.map((box) => box.name))) await page.uncheck(`[name=${name}]`);
  await page.check("[name=carriers]");
  await page.waitForFunction(() => cairn.layers.count > 0);
  const carried = await page.evaluate(() => cairn.link.world.carriers());
  assert.match(await page.textContent("#layers output[name=carriers-why]"), /^27 points carry 7 bodies; they are off their places by up to \S+ m\.$/);
  const drawn = await lines(), count = carried.reduce((sum, { points }) => sum + points.length, 0);
  assert.equal(count, 27);
  assert.equal(drawn.length, 3 * count);
  const places = await page.evaluate((ids) => ids.map((id) => cairn.link.mirror.body(id).position), carried.flatMap(({ body, points }) => [body, ...points]));
  let at = 0;
  for (const { points } of carried) {
    const [body, ...own] = places.splice(0, 1 + points.length);
    for (const place of own) {
      assert.ok(near(drawn[at], [...place, ...body]), `${drawn[at]} is not from ${place} to ${body}`);
      for (const mark of drawn.slice(at + 1, at + 3))
        assert.ok(near([0, 1, 2].map((k) => (mark[k] + mark[k + 3]) / 2), place));
      at += 3;
    }
  }
  if (process.env.CAIRN_PICTURES) await page.screenshot({ path: `${process.env.CAIRN_PICTURES}/carriers.png` });
  await page.uncheck("[name=carriers]");
  await page.waitForFunction(() => cairn.layers.count === 0);
  assert.equal(await page.textContent("#layers output[name=carriers-why]"), "");
  assert.deepEqual(wrong, []);
});

test("contacts, joints and fields are among the layers: one switch in two places, with a legend", async () => {
  for (const name of ["contacts", "joints", "fields"]) {
    await page.check(`#layers [name=${name}]`);
    assert.equal(await page.isChecked(`#${name}`), true, name);
    await page.uncheck(`#${name}`);
    assert.equal(await page.isChecked(`#layers [name=${name}]`), false, name);
  }
  const unexplained = await page.$$eval("#layers li", (lines) => lines.filter((line) => line.querySelector("i") === null ||
    getComputedStyle(line.querySelector("i")).width === "0px" || line.lastChild.textContent.trim().length < 8).length);
  assert.equal(unexplained, 0);
  assert.deepEqual(wrong, []);
});

test("bodies are drawn by their visuals, and by what collides while that layer is on", async () => {
  const drawn = () => page.evaluate(() => {
    const { mirror } = cairn.link, slot = mirror.slots.get(2), { box } = cairn.crowd.drawnBox(mirror, cairn.moment(), 2);
    return { kinds: cairn.crowd.kindsOf(2), height: box.max.y - box.min.y, place: mirror.position[slot * 3 + 1] };
  });
  const until = (kinds) => page.waitForFunction((wanted) => String(cairn.crowd.kindsOf(2)) === wanted && cairn.crowd.complete, String(kinds));
  const before = await drawn();
  const shape = await page.evaluate((bytes) => cairn.link.world.shape(Uint8Array.from(bytes)), Array.from(shapes.cone(4, 0.3)));
  const apply = (made) => page.evaluate((set) => cairn.link.world.apply(set), made);
  await apply(command("add_visual", { body: 2, shape, colour: 0x336699, given: 1 }));
  await until(["cone"]);
  const shown = await drawn();
  assert.ok(shown.height > 3, `a cone of 4 m is drawn ${shown.height} m high`);
  assert.equal(shown.place, before.place);
  await page.check("[name=shapes]");
  await until(before.kinds);
  assert.equal((await drawn()).height, before.height);
  await page.uncheck("[name=shapes]");
  await until(["cone"]);
  await apply(command("clear_visuals", { body: 2 }));
  await until(before.kinds);
  assert.deepEqual(wrong, []);
});
