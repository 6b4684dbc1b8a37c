/** The light of the sky: what a still picture converges to, that it then costs nothing, and what moving pictures have instead; what is chosen. */
import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { daemon } from "../../js/test/daemon.js";
import { skyward } from "../src/shade.js";
import { TOKEN, launch, writeTokens } from "./browser.js";

let server, browser, home, page;
const wrong = [];

/** A wall 4 m high and 40 m long on a ground, with one cube before it; another cube far from it. */
const SCENE = `
world: { name: wall, rate: 60 }
shapes:
  ground: { kind: plane }
  wall: { kind: box, size: [0.2, 4, 40] }
  cube: { kind: box, size: [1, 1, 1] }
bodies:
  - { shape: ground, status: static }
  - { shape: wall, status: static, at: [-0.1, 2, 0] }
  - { shape: cube, at: [8, 0.5, 0] }
`;

before(async () => {
  home = mkdtempSync(join(tmpdir(), "cairn-shade-"));
  const scene = join(home, "wall.yaml");
  writeFileSync(scene, SCENE);
  server = await daemon("--web", "tcp:127.0.0.1:0", "--web-files", "dist", "--tokens", writeTokens(home), "--paused", "--scene", scene,
    "--scene", `${process.env.CAIRN_SRCDIR}/clients/scenes/fountain.yaml`);
  const address = await server.logged(/listening address=(http:\S+)/);
  browser = await launch();
  page = await browser.newPage({ viewport: { width: 480, height: 320 } });
  page.setDefaultTimeout(60000);
  page.on("pageerror", (error) => wrong.push(error.message));
  page.on("console", (line) => { if (["error", "warning"].includes(line.type()) && !/ReadPixels/.test(line.text())) wrong.push(line.text()); });
  await page.goto(`${address}#world=wall&token=${encodeURIComponent(TOKEN)}`);
  await page.waitForFunction(() => window.cairn?.moment() && cairn.crowd.complete && cairn.framed());
});
after(async () => {
  await browser?.close();
  await server?.stop();
  rmSync(home, { recursive: true, force: true });
});

/** The share of the sky that the middle of the picture sees, of 255, once it is refined with the target at a point. */
const shareAt = (x, y, z) => page.evaluate(async (target) => {
  const { stage } = cairn, { shade } = stage;
  stage.look([target[0] + 5, target[1] + 4, target[2] + 2], target);
  Object.assign(shade, { passes: 0, longest: Infinity }); // all directions, however slow the machine is
  cairn.wake();
  while (!shade.complete) await new Promise((done) => { setTimeout(done, 50); });
  const point = stage.controls.target.clone().project(stage.camera), { width, height } = stage.canvas;
  return shade.shareAt(Math.floor(((point.x + 1) / 2) * width), Math.floor(((point.y + 1) / 2) * height));
}, [x, y, z]);

test("the directions of the sky are spread evenly, after 16, 32 and all passes", () => {
  for (const passes of [16, 32, 64]) {
    const all = Array.from({ length: passes }, (_, i) => skyward(i));
    // Means over the half-sphere: of the height 1/2, of its square 1/3, of the other axes 0; half of the light comes from x < 0.
    const mean = (of) => all.reduce((sum, way) => sum + of(way), 0) / passes;
    assert.ok(Math.abs(mean(({ y }) => y) - 0.5) < 0.5 / passes + 0.01);
    assert.ok(Math.abs(mean(({ y }) => y * y) - 1 / 3) < 0.6 / passes + 0.01);
    for (const axis of ["x", "z"]) assert.ok(Math.abs(mean((way) => way[axis])) < 0.06, `${axis} after ${passes}`);
    const west = mean(({ x, y }) => (x < 0 ? y : 0)) / mean(({ y }) => y);
    assert.ok(Math.abs(west - 0.5) < 1.2 / Math.sqrt(passes) / 4, `${west} of the light comes from one half after ${passes}`);
    for (const { x, y, z } of all) assert.ok(y > 0 && Math.abs(Math.hypot(x, y, z) - 1) < 1e-12);
  }
});

test("a still picture has the share of the sky that geometry gives, and then nothing is drawn", async () => {
  // Of a point d from a long wall of height h the wall hides (1 − d / √(d² + h²)) / 2 of the light.
  for (const away of [0.5, 3]) {
    const share = (await shareAt(away, 0, 0)) / 255, exact = 1 - (1 - away / Math.hypot(away, 4)) / 2;
    assert.ok(Math.abs(share - exact) < 0.07, `${share} at ${away} m, and ${exact} by the formula`);
  }
  const drawn = () => page.evaluate(() => cairn.stage.renderer.info.render.frame), still = await drawn();
  await page.waitForTimeout(1500);
  assert.equal(await drawn(), still);
  assert.deepEqual(wrong, []);
});

test("a change of the picture ends the refined one, and the switch of shadows ends both", async () => {
  await shareAt(8.8, 0, 0);
  const brightness = () => page.evaluate(() => {
    const { stage } = cairn, gl = stage.renderer.getContext(), at = stage.controls.target.clone().project(stage.camera), pixel = new Uint8Array(4);
    gl.readPixels(((at.x + 1) / 2) * gl.drawingBufferWidth, ((at.y + 1) / 2) * gl.drawingBufferHeight, 1, 1, gl.RGBA, gl.UNSIGNED_BYTE, pixel);
    return pixel[0] + pixel[1] + pixel[2];
  });
  const refined = await brightness();
  const passes = await page.evaluate(() => {
    cairn.stage.version++;
    cairn.stage.render();
    return cairn.stage.shade.passes;
  });
  assert.equal(passes, 0);
  const moving = await brightness();
  await page.click("#shadows");
  await page.waitForTimeout(500);
  const plain = await brightness();
  await page.click("#shadows");
  assert.ok(refined < plain && moving <= plain, `${refined} refined, ${moving} moving, ${plain} plain`);
});

test("under a body that moves the ground is darker the nearer the body is", async () => {
  const darkness = (height) => page.evaluate(async (y) => {
    const { stage } = cairn, gl = stage.renderer.getContext(), pixel = new Uint8Array(4);
    const id = [...cairn.link.mirror.slots.keys()].find((body) => cairn.link.mirror.body(body).status === "dynamic");
    const slot = cairn.link.mirror.slots.get(id), moment = cairn.moment();
    stage.look([8, 1.5, 6], [8, 0, 0.49]);
    for (const frame of [moment.from, moment.to]) frame.position[slot * 3 + 1] = y;
    stage.sun.intensity = 0; // the sun's shadow lies there, too
    cairn.crowd.draw(cairn.link.mirror, moment, stage.metresPerPixel);
    stage.render();
    const at = stage.controls.target.clone().project(stage.camera);
    gl.readPixels(((at.x + 1) / 2) * gl.drawingBufferWidth, ((at.y + 1) / 2) * gl.drawingBufferHeight, 1, 1, gl.RGBA, gl.UNSIGNED_BYTE, pixel);
    return 765 - pixel[0] - pixel[1] - pixel[2];
  }, height);
  const [resting, low, high] = [await darkness(0.75), await darkness(1.2), await darkness(6)];
  assert.ok(resting > low + 10 && low > high + 10, `${resting}, ${low}, ${high}`);
  assert.deepEqual(wrong, []);
});

test("a chosen static body keeps its colour and has an outline, a chosen half-space a little of the colour", async () => {
  const seen = await page.evaluate(() => {
    const { crowd, link, stage } = cairn, { mirror } = link, of = (kind) => [...mirror.slots.keys()]
      .find((id) => mirror.body(id).status === "static" && crowd.kindsOf(id).includes(kind));
    const colourOf = (id) => {
      let hex = null;
      stage.scene.traverse(({ userData: { batch } }) => {
        const at = batch?.shown.slice(0, batch.mesh.count).findIndex((item) => item.id === id) ?? -1;
        if (at >= 0) hex = batch.mesh.colourAt(at, stage.scene.fog.color.clone()).getHexString();
      });
      return hex;
    };
    return ["plane", "box"].map((kind) => {
      const id = of(kind), before = colourOf(id);
      cairn.choose(id);
      crowd.draw(mirror, cairn.moment(), stage.metresPerPixel);
      return { kind, same: colourOf(id) === before, outlined: crowd.outline.visible, size: crowd.outline.box.min.distanceTo(crowd.outline.box.max) };
    });
  });
  assert.deepEqual(seen.map(({ kind, same, outlined }) => [kind, same, outlined]), [["plane", false, false], ["box", true, true]]);
  assert.ok(Math.abs(seen[1].size - Math.hypot(0.2, 4, 40)) < 1e-3, `${seen[1].size}`);
  assert.deepEqual(wrong, []);
});

test("a paused world with particles is refined, too: they are drawn again only when the world's state changes", async () => {
  await page.evaluate(() => cairn.link.join("fountain"));
  await page.waitForFunction(() => cairn.framed() && cairn.link.world.name === "fountain");
  const counts = [];
  for (let i = 0; i < 2; i++) {
    const before = counts.at(-1) ?? 0;
    await page.evaluate(() => cairn.link.world.step(30));
    await page.waitForFunction((count) => cairn.particles.count > count, before);
    await page.waitForFunction(() => cairn.stage.shade.complete && cairn.playback.playhead === cairn.link.mirror.tick);
    const [version, count] = await page.evaluate(() => [cairn.particles.version, cairn.particles.count]);
    await page.waitForTimeout(1000);
    assert.equal(await page.evaluate(() => cairn.particles.version), version);
    counts.push(count);
  }
  assert.ok(counts[1] > counts[0]);
  assert.deepEqual(wrong, []);
});
