/** Pulling particles of cloth and ropes with the pointer. */
import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { daemon } from "../../js/test/daemon.js";
import { TOKEN, launch, writeTokens } from "./browser.js";

/** A cloth that hangs from two corners, a ball before it, a wall behind it, and a rope beside it. */
const SCENE = `
world: { name: loom, rate: 60 }
bodies:
  - { shape: { kind: plane }, status: static }
  - { shape: { kind: box, size: [6, 3, 0.2] }, status: static, at: [0, 1.5, -2] }
  - { shape: { kind: box, size: [0.4, 0.9, 0.4] }, status: static, at: [0, 0.45, 1.5] }
  - { name: ball, shape: { kind: sphere, radius: 0.15 }, at: [0, 1.05, 1.5], mass: 1, rolling_friction: 0.1 }
particles:
  - name: cloth
    emitter: none
    life: 0
    size: 0.05
    mass: 0.01
    lattices: [{ at: [-0.5, 0.8, 0], columns: 8, rows: 8, spacing: 0.15, substeps: 16 }]
    pins: [57, 64]
  - name: rope
    emitter: none
    life: 0
    size: 0.03
    mass: 0.02
    lattices: [{ at: [1.4, 2, 0], rotation: { axis: [0, 0, 1], degrees: -90 }, columns: 9, spacing: 0.1, substeps: 16 }]
    pins: [1]
`;
const BALL = 4, CLOTH = 1, ROPE = 2;

let server, browser, home, page;
const wrong = [];

before(async () => {
  home = mkdtempSync(join(tmpdir(), "cairn-grip-"));
  writeFileSync(join(home, "loom.yaml"), SCENE);
  server = await daemon("--web", "tcp:127.0.0.1:0", "--web-files", "dist", "--tokens", writeTokens(home), "--scene", join(home, "loom.yaml"));
  const address = await server.logged(/listening address=(http:\S+)/);
  browser = await launch();
  page = await (await browser.newContext({ viewport: { width: 800, height: 600 } })).newPage();
  page.on("pageerror", (error) => wrong.push(error.message));
  page.on("console", (line) => { if (line.type() === "error") wrong.push(line.text()); });
  await page.goto(`${address}#world=loom&token=${encodeURIComponent(TOKEN)}`);
  await page.waitForFunction(() => window.cairn?.moment() && cairn.framed());
  await page.evaluate(() => {
    document.getElementById("shadows").click(); // which take long in software
    document.body.classList.add("bare"); // no panel is in the pointer's way
    cairn.stage.look([0.3, 1.3, 6], [0.3, 1.2, 0]);
    cairn.wake();
  });
  // The links have come.
  await page.waitForFunction((systems) => systems.every((id) => cairn.particles.placeOf(id, 9) !== null), [CLOTH, ROPE]);
});
after(async () => {
  await browser?.close();
  await server?.stop();
  rmSync(home, { recursive: true, force: true });
});

/** Where a particle is: place in the world, and on the page. */
const placeOf = (system, serial) => page.evaluate(([of, number]) => {
  const place = cairn.particles.placeOf(of, number), at = place.clone().project(cairn.stage.camera);
  return { place: place.toArray(), x: ((at.x + 1) / 2) * innerWidth, y: ((1 - at.y) / 2) * innerHeight };
}, [system, serial]);

/** Waits until so many animated bodies belong to the page's session. */
const handles = (count) => page.waitForFunction((wanted) => {
  const { mirror, world } = cairn.link, bodies = [...mirror.slots.keys()].map((id) => mirror.body(id));
  return bodies.filter(({ status, owner }) => status === "animated" && owner === world.client.session).length === wanted;
}, count);

/** Presses a particle where it is drawn. The world stands meanwhile, so that the particle cannot swing away from the pointer. */
async function press(system, serial) {
  await page.evaluate(() => cairn.link.world.control("pause"));
  await page.waitForFunction(() => cairn.link.mirror.tick === cairn.link.world.tick);
  await page.evaluate(() => new Promise((resolve) => { requestAnimationFrame(() => requestAnimationFrame(resolve)); }));
  const at = await placeOf(system, serial);
  await page.mouse.move(at.x, at.y);
  await page.mouse.down();
  await page.evaluate(() => cairn.link.world.control("resume"));
  return at;
}

/** Pulls a particle to the right by pixels until it has come by `way` metres, lets go, and waits until it is back. */
async function pullAndRelease(system, serial, pixels, way) {
  const { x, y, place } = await press(system, serial);
  await page.mouse.move(x + pixels, y, { steps: 4 });
  await handles(1);
  assert.deepEqual((await page.evaluate(() => cairn.link.world.systems())).map(({ id, holds }) => [id, Number(holds)]),
    [[CLOTH, Number(system === CLOTH)], [ROPE, Number(system === ROPE)]]);
  await page.waitForFunction(([of, number, least]) => cairn.particles.placeOf(of, number).x > least, [system, serial, place[0] + way]);
  assert.equal(await page.evaluate(() => cairn.hand.line.visible), true);
  await page.mouse.up();
  await handles(0);
  await page.waitForFunction(([of, number, most]) => cairn.particles.placeOf(of, number).x < most, [system, serial, place[0] + way / 2]);
  assert.equal(await page.evaluate(() => cairn.hand.line.visible), false);
  assert.deepEqual((await page.evaluate(() => cairn.link.world.systems())).map(({ holds }) => Number(holds)), [0, 0]);
}

test("a particle of a cloth follows the pointer by a spring, and is free again when it is released", async () => {
  const turned = await page.evaluate(() => cairn.stage.controls.getAzimuthalAngle());
  await pullAndRelease(CLOTH, 5, 60, 0.2);
  assert.equal(await page.evaluate(() => cairn.stage.controls.getAzimuthalAngle()), turned, "the camera stays");
  assert.deepEqual(wrong, []);
});

test("a particle of a rope is taken within a few pixels", async () => {
  await pullAndRelease(ROPE, 9, 60, 0.2);
  assert.deepEqual(wrong, []);
});

test("a click on a cloth holds nothing and makes nothing", async () => {
  const bodies = await page.evaluate(() => cairn.link.mirror.count);
  await press(CLOTH, 20);
  await page.mouse.up();
  const tick = await page.evaluate(() => cairn.link.mirror.tick);
  await page.waitForFunction((then) => cairn.link.mirror.tick > then + 10, tick);
  assert.equal(await page.evaluate(() => cairn.link.mirror.count), bodies);
  assert.deepEqual(wrong, []);
});

test("a body before a cloth is pulled, not the cloth", async () => {
  const at = await page.evaluate((id) => {
    const place = cairn.crowd.poseOf(cairn.link.mirror, cairn.moment(), id).position.project(cairn.stage.camera);
    return { x: ((place.x + 1) / 2) * innerWidth, y: ((1 - place.y) / 2) * innerHeight };
  }, BALL);
  // The cloth, which may still swing, is under the pointer, too.
  await page.waitForFunction(([x, y, cloth]) => {
    const aside = cairn.stage.rayAt(x + 6, y).ray.clone();
    return cairn.particles.pick(cairn.stage.rayAt(x, y), aside)?.system === cloth;
  }, [at.x, at.y, CLOTH]);
  await page.mouse.move(at.x, at.y);
  await page.mouse.down();
  await page.mouse.move(at.x, at.y - 40, { steps: 4 });
  await page.waitForFunction(() => [...cairn.link.mirror.joints.items.values()].some(({ type }) => type === "drag"));
  await handles(0);
  await page.mouse.up();
  await page.waitForFunction(() => cairn.link.mirror.joints.items.size === 0);
  assert.deepEqual(wrong, []);
});
