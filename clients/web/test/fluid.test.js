/** Fluids: what their colours mean, and their surface: its pixels, how it gives way to balls, and the choice of the visitor. */
import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { Color } from "three";
import { daemon } from "../../js/test/daemon.js";
import { SHADES, numeral, scaleOf, shadeOf } from "../src/fluid.js";
import { Surface } from "../src/surface.js";
import { TOKEN, launch, writeTokens } from "./browser.js";

const PARTICLES = { position: [9, 9, 9, 0, 0, 0, 0, 1, 0, 0, 2, 0], velocity: [9, 9, 9, 0, 0, 0, 0, 3, 4, 99, 0, 0],
  pressure: [9e9, 0, 500, 2000], density: [9e9, 700, 1000, 1020] };
const sharesOf = (shade, first, end) => [...scaleOf(shade, PARTICLES, first, end, 1000).shares];

test("the deepest particle has the share 0, the highest 1, in the range that is drawn", () => {
  assert.deepEqual(sharesOf("depth", 1, 4), [0, 0.5, 1]);
  assert.deepEqual([scaleOf("depth", PARTICLES, 1, 4).low, scaleOf("depth", PARTICLES, 1, 4).high], [0, 2]);
});

test("speeds count against a fall over the fluid's height, and end at 1", () => {
  const [still, moving, fast] = sharesOf("speed", 1, 4), fall = Math.sqrt(2 * 9.81 * 2);
  assert.equal(still, 0);
  assert.ok(Math.abs(moving - 5 / fall) < 1e-6);
  assert.equal(fast, 1);
  assert.equal(scaleOf("speed", PARTICLES, 1, 4).high, fall);
  assert.deepEqual(sharesOf("speed", 1, 1), []);
});

test("pressures count against the largest, excesses of density too, and what frames do not tell has no scale", () => {
  assert.deepEqual(sharesOf("pressure", 1, 4), [0, 0.25, 1]);
  assert.deepEqual(sharesOf("density error", 1, 4), [0, 0, 1]);
  const { low, high, unit } = scaleOf("density error", PARTICLES, 1, 4, 1000);
  assert.deepEqual([low, Number(high.toFixed(9)), unit], [0, 2, "%"]);
  assert.equal(scaleOf("density error", PARTICLES, 1, 3, 1000).high, 0.1, "noise is not stretched over all colours");
  for (const shade of SHADES)
    assert.equal(scaleOf(shade, { position: [0, 0, 0] }, 0, 1, 1000) === null, shade !== "depth", `${shade} without its column`);
  assert.equal(scaleOf("density error", PARTICLES, 1, 4, 0), null);
  assert.deepEqual([0, 1e-12, 0.001234, 3.14159, 98765.4, 1234567].map(numeral), ["0", "0", "0.00123", "3.14", "98800", "1.2e+6"]);
});

test("the ramp goes from dark to white", () => {
  const light = [0, 0.25, 0.5, 0.75, 1].map((share) => shadeOf(share, new Color()).getHSL({}).l);
  for (let i = 1; i < light.length; i++) assert.ok(light[i] > light[i - 1]);
  assert.equal(shadeOf(7, new Color()).getHex(), 0xffffff);
});

test("a surface gives way to balls where it cannot be drawn, or is too slow, and says why; a choice overrides that", () => {
  const renderer = (extension) => ({ getContext: () => ({ getExtension: () => extension }) });
  const none = new Surface(renderer(null));
  none.choice = "surface";
  assert.equal(none.on, false);
  assert.match(none.why, /^Balls: this browser does not draw into floating-point textures/);
  const surface = new Surface(renderer({}));
  surface.count = 100;
  assert.ok(surface.on && surface.probing);
  assert.equal(surface.why, "Surface.");
  surface.choice = "balls";
  assert.deepEqual([surface.on, surface.probing, surface.why], [false, false, "Balls, as chosen."]);
});

// ---- in a browser ------------------------------------------------------------------------------------

/** A block of water on a ground; a red cube before it, seen from +z. */
const SCENE = `
world: { name: block, rate: 60 }
bodies:
  - { shape: { kind: plane }, status: static, colour: 0x808080 }
  - { shape: { kind: box, size: 0.2 }, status: static, at: [0.35, 0.1, 0.8], colour: 0xC02010 }
particles:
  - { name: water, emitter: none, life: 0, size: 0.04, friction: 0, restitution: 0, fluid: { kernel_radius: 0.2, viscosity: 5 },
      fills: [{ at: [0, 0.35, 0], size: [1, 0.6, 0.6] }] }
`;
let server, browser, home, page;
const wrong = [];

before(async () => {
  home = mkdtempSync(join(tmpdir(), "cairn-fluid-"));
  const scene = join(home, "block.yaml");
  writeFileSync(scene, SCENE);
  server = await daemon("--web", "tcp:127.0.0.1:0", "--web-files", "dist", "--tokens", writeTokens(home), "--paused", "--scene", scene);
  const address = await server.logged(/listening address=(http:\S+)/);
  browser = await launch();
  page = await browser.newPage({ viewport: { width: 320, height: 240 } });
  page.setDefaultTimeout(30000);
  page.on("pageerror", (error) => wrong.push(error.message));
  page.on("console", (line) => { if (["error", "warning"].includes(line.type()) && !/ReadPixels/.test(line.text())) wrong.push(line.text()); });
  await page.goto(`${address}#world=block&token=${encodeURIComponent(TOKEN)}`);
  await page.waitForFunction(() => window.cairn?.moment() && cairn.framed() && cairn.particles.fluids && cairn.particles.count > 0);
});
after(async () => {
  await browser?.close();
  await server?.stop();
  rmSync(home, { recursive: true, force: true });
});

/** Sets a look and draws; colours of the picture (0…255 each) at points of the world, and along a row through the middle of the water. */
const seen = (look, points) => page.evaluate(([choice, places]) => {
  const { stage, particles, link } = cairn, gl = stage.renderer.getContext(), [width, height] = [gl.drawingBufferWidth, gl.drawingBufferHeight];
  stage.look([0, 0.7, 3], [0, 0.3, 0]);
  particles.surface.choice = choice;
  particles.refresh(link.world, link.mirror, performance.now());
  stage.render();
  stage.render();
  const Vector = stage.controls.target.constructor;
  const read = (place) => {
    const at = new Vector(...place).project(stage.camera), pixel = new Uint8Array(4);
    gl.readPixels(((at.x + 1) / 2) * width, ((at.y + 1) / 2) * height, 1, 1, gl.RGBA, gl.UNSIGNED_BYTE, pixel);
    return [...pixel.slice(0, 3)];
  };
  return { colours: places.map(read), row: Array.from({ length: 60 }, (_, i) => read([-0.3 + i * 0.005, 0.4, 0.3])) };
}, [look, points]);
const apart = (a, b) => Math.max(...a.map((value, i) => Math.abs(value - b[i])));
/** The mean of what neighbours in the row differ by. */
const roughness = (row) => row.slice(1).reduce((sum, pixel, i) => sum + apart(pixel, row[i]), 0) / (row.length - 1);

test("the surface is where the water is, smoother than balls, and behind what is before it", async () => {
  const points = [[0, 0.4, 0.3], [0.35, 0.1, 0.9], [-1.2, 0, 0.5]];
  const balls = await seen("balls", points), surface = await seen("surface", points);
  assert.deepEqual(await page.evaluate(() => cairn.particles.surface.count), 10 * 6 * 6);
  const [water, cube, ground] = surface.colours;
  assert.ok(apart(cube, balls.colours[1]) <= 2 && cube[0] > 2 * cube[2], `the cube is ${cube}, with balls ${balls.colours[1]}`);
  assert.ok(apart(ground, balls.colours[2]) <= 2, `the ground is ${ground}, with balls ${balls.colours[2]}`);
  assert.ok(apart(water, ground) > 20 && water[2] > water[0], `the water is ${water} before ${ground}`);
  assert.ok(roughness(surface.row) < 0.5 * roughness(balls.row), `${roughness(surface.row)}, balls ${roughness(balls.row)}`);
  assert.deepEqual(wrong, []);
});

test("without a choice a slow surface becomes balls; the panel tells what is drawn, why, and what the colours mean", async () => {
  await page.click("#layer");
  assert.match(await page.textContent("#fluid-why"), /^Surface, as chosen/);
  await page.evaluate(() => { cairn.particles.surface.longest = 1e-3; });
  await page.selectOption("#fluid-look", "automatic");
  // Pictures are drawn while something changes.
  for (let i = 0; i < 4; i++) await page.evaluate(() => { cairn.stage.render(); });
  await page.waitForFunction(() => /^Balls: with the surface a picture took \S+ ms, and 0\.0010 ms are allowed\. Choose “surface”/
    .test(document.getElementById("fluid-why").textContent));
  await page.waitForFunction(() => !cairn.particles.surface.on);
  // Half as many particles, or another window, and it is tried again.
  assert.deepEqual(await page.evaluate(() => {
    const { surface } = cairn.particles, tried = [surface.on];
    surface.fill([]);
    return [...tried, surface.on];
  }), [false, true]);
  await page.evaluate(() => cairn.link.world.step(1));
  await page.waitForFunction(() => cairn.particles.surface.count > 0);
  for (let i = 0; i < 4; i++) await page.evaluate(() => { cairn.stage.render(); });
  assert.equal(await page.evaluate(() => cairn.particles.surface.on), false);
  await page.evaluate(() => { cairn.particles.surface.longest = Infinity; });
  await page.setViewportSize({ width: 300, height: 240 });
  await page.waitForFunction(() => cairn.particles.surface.on);
  await page.evaluate(() => { cairn.particles.surface.longest = 1e-3; });
  await page.selectOption("#fluid-look", "surface");
  await page.waitForFunction(() => /^Surface, as chosen/.test(document.getElementById("fluid-why").textContent));
  await page.evaluate(() => { cairn.particles.surface.longest = Infinity; });
  await page.selectOption("#fluid-look", "automatic");
  await page.evaluate(() => cairn.link.world.step(20));
  await page.waitForFunction(() => cairn.link.mirror.tick === 21 && Math.max(...cairn.link.mirror.particles.pressure) > 0);
  await page.selectOption("#shade", "pressure");
  await page.waitForFunction(() => document.querySelector("#fluid-legend [name=high]").textContent.endsWith(" Pa"));
  const [legend, most] = await page.evaluate(() => [document.querySelector("#fluid-legend [name=high]").textContent,
    Math.max(...cairn.link.mirror.particles.pressure)]);
  assert.equal(legend, `${numeral(Math.max(most, 1))} Pa`);
  assert.match(await page.textContent("#fluid-why"), /^Surface/);
  assert.deepEqual(wrong, []);
});
