/** The joints in the panel of the chosen body: their coordinates, and the sliders that set what their motors hold. */
import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { command } from "../../js/src/commands.js";
import { daemon, until as eventually } from "../../js/test/daemon.js";
import { TOKEN, launch, writeTokens } from "./browser.js";

/** A post with a servo that turns an arm, a wheel geared to it, a sledge with limits and no motor, and a wheel that a motor spins. */
const SCENE = `
world: { name: bench, gravity: [0, 0, 0] }
shapes: { bar: { kind: box, size: [1, 0.1, 0.1] }, cube: { kind: box, size: 0.4 } }
bodies:
  - { name: post, shape: cube, status: static, at: [0, 1, 0] }
  - { name: arm, shape: bar, at: [1, 1, 0], mass: 1 }
  - { name: wheel, shape: cube, at: [0, 3, 0], mass: 1 }
  - { name: sledge, shape: cube, at: [0, -1, 0], mass: 2 }
  - { name: flag, shape: cube, at: [0, -3, 0], mass: 1 }
  - { name: spinner, shape: cube, at: [0, 5, 0], mass: 1 }
joints:
  - { name: elbow, type: revolute, a: post, b: arm, at: [0.4, 1, 0], axis: [0, 0, 1], motor: { position_degrees: 0, stiffness: 200, damping: 30 } }
  - { name: pinion, type: revolute, b: wheel, at: [0, 3, 0], axis: [0, 0, 1], gear: { leader: elbow, ratio: -2, offset_degrees: 10 } }
  - { name: rail, type: prismatic, b: sledge, at: [0, -1, 0], axis: [1, 0, 0], limits: [-0.25, 0.5] }
  - { type: fixed, a: sledge, b: flag, at: [0, -2, 0] }
  - { name: axle, type: revolute, b: spinner, at: [0, 5, 0], axis: [0, 0, 1], motor: { velocity: 1, limit: 7 } }
`;
const ARM = 2, WHEEL = 3, SLEDGE = 4, SPINNER = 6, ELBOW = 1, RAIL = 3, AXLE = 5;

const AXE = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

let server, browser, home, page, address;
const wrong = [];

async function open(hash) {
  const opened = await (await browser.newContext({ viewport: { width: 1000, height: 700 } })).newPage();
  opened.on("pageerror", (error) => wrong.push(error.message));
  opened.on("console", (line) => { if (line.type() === "error") wrong.push(line.text()); });
  await opened.goto(`${address}${hash}`);
  await opened.waitForFunction(() => window.cairn?.moment() && cairn.framed());
  await opened.evaluate(() => { document.getElementById("shadows").click(); }); // which take long in software
  return opened;
}

before(async () => {
  home = mkdtempSync(join(tmpdir(), "cairn-coordinates-"));
  writeFileSync(join(home, "bench.yaml"), SCENE);
  server = await daemon("--web", "tcp:127.0.0.1:0", "--web-files", "dist", "--tokens", writeTokens(home), "--scene", join(home, "bench.yaml"));
  address = await server.logged(/listening address=(http:\S+)/);
  browser = await launch();
  page = await open(`#world=bench&token=${encodeURIComponent(TOKEN)}`);
});
after(async () => {
  await browser?.close();
  await server?.stop();
  rmSync(home, { recursive: true, force: true });
});

/** Chooses a body and waits until its joint is in the panel. */
async function choose(on, id, joint) {
  await on.evaluate((body) => cairn.choose(body), id);
  await on.waitForFunction((number) => new RegExp(`oint ${number} `).test(document.getElementById("coordinates").textContent), joint);
}

const line = (joint, axis) => `#coordinates [data-axis="${joint}:${axis}"]`;
const slider = (joint, axis) => `${line(joint, axis)} input`;
const axisOf = (joint, axis) => page.evaluate(([id, k]) => cairn.link.world.joint(id)
  .then(({ axes, coordinates }) => ({ ...axes[k], coordinate: coordinates[k] })), [joint, axis]);

/** Waits until the number in the panel is within `off` of `value`, and the slider with it. */
const follows = (joint, axis, value, off) => page.waitForFunction(([root, meant, most]) => {
  const found = document.querySelector(root);
  return found && [found.querySelector("output").textContent, found.querySelector("input").value]
    .every((text) => Math.abs(parseFloat(text) - meant) <= most);
}, [line(joint, axis), value, off]);

async function until(joint, axis, holds, what) {
  let found;
  await eventually(async () => holds(found = await axisOf(joint, axis)), () => `${what}: ${JSON.stringify(found)}`);
  return found;
}

/** Presses the slider at a share of its length, and keeps it pressed. A press on its thumb changes nothing, so it is moved. */
async function press(selector, share) {
  await page.locator(selector).scrollIntoViewIfNeeded();
  const box = await page.locator(selector).boundingBox();
  await page.mouse.move(box.x + box.width * share, box.y + box.height / 2);
  await page.mouse.down();
  await page.mouse.move(box.x + box.width * share + 3, box.y + box.height / 2);
}

test("the panel lists joints by name and type, with the coordinates of their free axes, live, and what a gear follows", async () => {
  await choose(page, WHEEL, 2);
  assert.match(await page.textContent("#coordinates"), /^pinion, joint 2 with the world.*revolute/);
  assert.match(await page.textContent(line(2, 3)), /^turn.*follows turn of joint 1, times -2 \+ 10\.0°; its gear exerts .* N m$/);
  assert.equal(await page.isVisible(slider(2, 3)), false, "it follows another axis, and is not moved itself");
  await choose(page, SLEDGE, 4);
  assert.match(await page.textContent("#coordinates"), /rail, joint 3 with the world.*prismatic.*slide0\.000 m.*Joint 4 with body 5.*fixed, no free axis/);
  assert.equal(await page.locator("#coordinates .axis").count(), 1);
  await choose(page, ARM, ELBOW);
  await follows(ELBOW, 3, 0, 0.5);
  const set = command("joint_targets", { targets: [[ELBOW, 3, Math.PI / 6]] });
  await page.evaluate((made) => cairn.link.world.apply(made), set);
  await follows(ELBOW, 3, 30, 0.5);
  const { min, max } = await page.locator(slider(ELBOW, 3)).evaluate(({ min: least, max: most }) => ({ min: Number(least), max: Number(most) }));
  assert.ok(Math.abs(min + 180) < 1e-9 && Math.abs(max - 180) < 1e-9, `${min} … ${max}`);
  assert.deepEqual(wrong, []);
});

test("a slider sets the target of a servo, stays where it is held, and follows the axis again when it is released", async () => {
  await choose(page, ARM, ELBOW);
  await press(slider(ELBOW, 3), 0.25);
  const held = Number(await page.inputValue(slider(ELBOW, 3)));
  assert.ok(held < -60 && held > -120, `${held}`);
  const there = await until(ELBOW, 3, ({ coordinate }) => Math.abs(coordinate * 180 / Math.PI - held) < 1, "the arm is there");
  assert.equal(there.motor, "position");
  assert.equal(there.motorStiffness, 200);
  assert.ok(Math.abs(there.target * 180 / Math.PI - held) < 1e-9, `${there.target}`);
  // Others may set a target: the slider is under the hand.
  await page.evaluate((made) => cairn.link.world.apply(made), command("joint_targets", { targets: [[ELBOW, 3, 0]] }));
  await page.waitForFunction((root) => Math.abs(parseFloat(document.querySelector(root).textContent)) < 1, `${line(ELBOW, 3)} output`);
  assert.equal(Number(await page.inputValue(slider(ELBOW, 3))), held);
  await page.mouse.up();
  await follows(ELBOW, 3, 0, 1);
  assert.equal(await page.isVisible(`${line(ELBOW, 3)} button`), false, "its motor is its own");
  assert.deepEqual(wrong, []);
});

test("an axis with limits and no motor gets one, by keys, within its limits and strength, and gives it back", async () => {
  await choose(page, SLEDGE, RAIL);
  const before = await axisOf(RAIL, 0);
  assert.equal(before.motor, "none");
  await page.focus(slider(RAIL, 0));
  await page.keyboard.press("End");
  const there = await until(RAIL, 0, ({ coordinate }) => Math.abs(coordinate - 0.5) < 1e-3, "it is at its upper limit");
  assert.equal(there.motor, "position");
  assert.ok(Math.abs(there.motorLimit - 40 * 9.81 * 2) < 1e-9, `${there.motorLimit}`);
  assert.deepEqual([there.lower, there.upper], [-0.25, 0.5]);
  await page.click(`${line(RAIL, 0)} button`);
  await until(RAIL, 0, ({ motor }) => motor === "none", "it has no motor again");
  await page.waitForFunction((root) => document.querySelector(root).hidden, `${line(RAIL, 0)} button`);
  const { coordinate: _now, ...again } = await axisOf(RAIL, 0), { coordinate: _then, ...had } = before;
  assert.deepEqual(again, had);
  assert.deepEqual(wrong, []);
});

test("a motor that turned is held while the slider wants it, and turns again when it is given back", async () => {
  await choose(page, SPINNER, AXLE);
  const before = await axisOf(AXLE, 3);
  await press(slider(AXLE, 3), 0.5);
  await until(AXLE, 3, ({ motor, motorLimit }) => motor === "position" && motorLimit === 7, "it holds a position with its own limit");
  await page.mouse.up();
  await page.click(`${line(AXLE, 3)} button`);
  const again = await until(AXLE, 3, ({ motor }) => motor === "velocity", "it turns again");
  assert.deepEqual([again.target, again.motorLimit], [before.target, before.motorLimit]);
  assert.deepEqual(wrong, []);
});

test("axe finds nothing in the panel with sliders and a gear", async () => {
  await page.evaluate(AXE);
  for (const [body, joint] of [[ARM, ELBOW], [WHEEL, 2]]) {
    await choose(page, body, joint);
    const found = await page.evaluate(() => axe.run("#inspector", { resultTypes: ["violations"] })
      .then(({ violations }) => violations.map(({ id, nodes }) => `${id}: ${nodes[0].html}`)));
    assert.deepEqual(found, []);
  }
});

test("who may only watch sees coordinates, and no sliders", async () => {
  const watching = await open("#world=bench");
  await choose(watching, ARM, ELBOW);
  assert.match(await watching.textContent(`${line(ELBOW, 3)} output`), /^-?\d+\.\d°$/);
  assert.equal(await watching.isVisible(slider(ELBOW, 3)), false);
  assert.deepEqual(wrong, []);
  await watching.close();
});
