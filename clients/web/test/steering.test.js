/** The inspector of movers and sensors, and steering a mover by keys. */
import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { command } from "../../js/src/commands.js";
import { daemon, until as eventually } from "../../js/test/daemon.js";
import { TOKEN, launch, writeTokens } from "./browser.js";

/** A mover on a floor in front of a wall; a sensor around two boxes; a heavy box on four boxes, whose shares are not unique. */
const SCENE = `
world: { name: hall }
bodies:
  - { shape: { kind: plane }, status: static }
  - { shape: { kind: capsule, radius: 0.3, length: 1.2 }, at: [0, 0.91, 0], mass: 80, mover: { step_height: 0.3, slope_degrees: 50, push_force: 400 } }
  - { shape: { kind: box, size: [6, 2, 0.5] }, status: static, at: [0, 1, -8] }
  - { shape: { kind: box, size: [4, 4, 4] }, status: static, sensor: true, at: [12, 2, 0] }
  - { shape: { kind: box, size: 1 }, at: [12, 0.5, 1], mass: 1 }
  - { shape: { kind: box, size: 1 }, at: [12, 0.5, -1], mass: 1 }
  - { shape: { kind: box, size: 1 }, at: [-6, 0.5, -6], mass: 746.6 }
  - at: [-8, 0.5, 4]
    status: static
    shapes: [{ shape: { kind: box, size: 1 } }, { shape: { kind: box, size: 1 }, at: [2, 0, 0] }, { shape: { kind: box, size: 1 }, at: [4, 0, 0] }]
    pieces: [{ piece: 0, friction: 0.05 }, { piece: 2, sensor: true, category: 4 }]
`;
const MOVER = 2, SENSOR = 4, BOXES = [5, 6], HEAVY = 7, PIECED = 8;

let server, browser, home, page;
const wrong = [];

before(async () => {
  home = mkdtempSync(join(tmpdir(), "cairn-steering-"));
  writeFileSync(join(home, "hall.yaml"), SCENE);
  server = await daemon("--web", "tcp:127.0.0.1:0", "--web-files", "dist", "--tokens", writeTokens(home), "--scene", join(home, "hall.yaml"));
  const address = await server.logged(/listening address=(http:\S+)/);
  browser = await launch();
  page = await (await browser.newContext({ viewport: { width: 1280, height: 720 } })).newPage();
  page.on("pageerror", (error) => wrong.push(error.message));
  page.on("console", (line) => { if (line.type() === "error") wrong.push(line.text()); });
  await page.goto(`${address}#world=hall&token=${encodeURIComponent(TOKEN)}`);
  await page.waitForFunction(() => window.cairn?.moment() && cairn.framed());
  await page.evaluate(() => { document.getElementById("shadows").click(); }); // which take long in software
});
after(async () => {
  await browser?.close();
  await server?.stop();
  rmSync(home, { recursive: true, force: true });
});

/** The panel's rows by name. */
const rows = () => page.evaluate(() => {
  const { children } = document.getElementById("facts");
  return Object.fromEntries(Array.from({ length: children.length / 2 }, (_, i) => [children[2 * i].textContent, children[2 * i + 1].textContent]));
});

async function choose(id, row) {
  await page.evaluate((body) => cairn.choose(body), id);
  await page.waitForFunction((name) => [...document.querySelectorAll("#facts dt")].some(({ textContent }) => textContent === name), row);
}

const fits = () => page.evaluate(() => {
  const panel = document.getElementById("inspector");
  return panel.scrollWidth <= panel.clientWidth && panel.getBoundingClientRect().right <= innerWidth;
});

async function savePicture(name) {
  if (process.env.CAIRN_PICTURES) await page.screenshot({ path: join(process.env.CAIRN_PICTURES, name) });
}

const facts = () => page.evaluate((id) => cairn.link.world.facts(id), MOVER);
const level = ([x, , z]) => Math.hypot(x, z);

/** Waits until the mover's facts hold. @returns them */
async function until(holds, what) {
  let found;
  await eventually(async () => holds(found = await facts()), () => `${what}: ${JSON.stringify(found)}`);
  return found;
}

test("the panel names what is in a sensor, what a mover does, and says in a line of its own that shares are not unique", async () => {
  await choose(SENSOR, "Senses");
  await page.waitForFunction(() => [...document.querySelectorAll("#facts dd")].some(({ textContent }) => /^\d+: /.test(textContent)));
  assert.equal((await rows()).Senses, `2: ${BOXES.join(", ")}`);
  assert.equal(await page.isVisible("#steer"), false);
  await savePicture("inspector-sensor.png");
  await choose(MOVER, "Mover");
  const mover = await rows();
  assert.match(mover.Mover, /^on body 1/);
  assert.equal(mover.Wish, "0.000  0.000  0.000 m/s");
  assert.equal(mover.Climbs, "0.3 m, 50°");
  assert.equal(mover.Pushes, "up to 400 N");
  assert.equal(mover.Senses, undefined);
  assert.equal(await page.isVisible("#steer"), true);
  await choose(HEAVY, "Shares");
  const heavy = await rows();
  assert.match(heavy.Contacts, /^4 points, 73\d\d N$/);
  assert.equal(heavy.Shares, "not unique");
  assert.equal(heavy.Mover, undefined);
  assert.equal(await fits(), true);
  // The contacts of a body at rest are asked for again and again, but not drawn again.
  const version = await page.evaluate(() => cairn.contacts.version);
  await page.waitForTimeout(600);
  assert.equal(await page.evaluate(() => cairn.contacts.version), version);
  await savePicture("inspector-shares.png");
  assert.deepEqual(wrong, []);
});

test("the panel says what pieces have of their own, and follows a change", async () => {
  await choose(PIECED, "Piece 2");
  const found = await rows();
  assert.equal(found["Piece 0"], "friction 0.05, restitution 0");
  assert.equal(found["Piece 1"], undefined);
  assert.equal(found["Piece 2"], "category 0x4, mask 0xffffffff, group 0; sensor");
  assert.equal(await fits(), true);
  await savePicture("inspector-pieces.png");
  const set = command("set_piece", { body: PIECED, piece: 1, own: 8, surface_velocity: [0, 0, 2] });
  await page.evaluate((made) => cairn.link.world.apply(made), set);
  await page.waitForFunction(() => /surface 0.000 {2}0.000 {2}2.000 m\/s/.test(document.getElementById("facts").textContent));
  assert.deepEqual(wrong, []);
});

test("W steers the chosen mover: it walks as the camera looks while a key is held, runs with Shift, jumps", async () => {
  await page.focus("#stage");
  await page.keyboard.press("w");
  assert.equal(await page.evaluate(() => cairn.steering.id), 0);
  await page.waitForFunction(() => /is no mover/.test(document.getElementById("note").textContent));
  await choose(MOVER, "Mover");
  await page.keyboard.press("w");
  await page.waitForFunction((id) => cairn.steering.id === id, MOVER);
  assert.equal(await page.getAttribute("#steer", "aria-pressed"), "true");
  assert.equal(await page.getAttribute("#follow", "aria-pressed"), "true");
  const ahead = await page.evaluate(() => {
    const { position } = cairn.stage.camera, { target } = cairn.stage.controls, way = [target.x - position.x, target.z - position.z];
    return way.map((v) => v / Math.hypot(...way));
  });
  await page.keyboard.down("w");
  const walking = await until(({ velocity }) => level(velocity) > 1.4, "it walks");
  const [x, , z] = walking.velocity;
  assert.ok(Math.abs(level(walking.velocity) - 1.5) < 0.02, `${walking.velocity}`);
  assert.ok((x * ahead[0] + z * ahead[1]) / 1.5 > 0.99, `${walking.velocity} along ${ahead}`);
  // It goes on while the key is held: longer than one command lasts.
  await page.waitForTimeout(900);
  assert.ok(level((await facts()).velocity) > 1.4);
  await page.keyboard.down("Shift");
  await until(({ velocity }) => Math.abs(level(velocity) - 4) < 0.05, "it runs");
  await page.keyboard.up("Shift");
  await page.keyboard.up("w");
  await until(({ velocity }) => level(velocity) < 1e-6, "it stops");
  await page.keyboard.down("ArrowLeft");
  const aside = await until(({ velocity }) => level(velocity) > 1.4, "it goes aside");
  assert.ok(Math.abs(aside.velocity[0] * ahead[0] + aside.velocity[2] * ahead[1]) < 0.05, `${aside.velocity} across ${ahead}`);
  await page.keyboard.up("ArrowLeft");
  await page.keyboard.press(" ");
  await until(({ position, mover }) => position[1] > 1.3 && !mover.onGround, "it jumps");
  assert.equal(await page.evaluate(() => cairn.link.world.mode), "running", "space does not pause the world");
  await until(({ mover }) => mover.onGround, "it lands");
  await savePicture("steering.png");
  assert.deepEqual(wrong, []);
});

test("it stops when the window loses the keyboard, when the page is gone, and on Escape, after which keys mean what they did", async () => {
  const held = async () => {
    await page.keyboard.down("d");
    await until(({ velocity }) => level(velocity) > 1.4, "it walks");
  };
  const stopped = () => until(({ velocity }) => level(velocity) < 1e-6, "it stops");
  await held();
  await page.evaluate(() => window.dispatchEvent(new Event("blur")));
  await stopped();
  await page.keyboard.up("d");
  // A page that says nothing any more: the last command ends by itself.
  await held();
  await page.evaluate(() => {
    const { client } = cairn.link;
    window.sends = client.send;
    client.send = function silent(name, ...more) { if (name !== "commands") window.sends.call(this, name, ...more); };
  });
  await stopped();
  await page.keyboard.up("d");
  await page.evaluate(() => { delete cairn.link.client.send; });
  await page.keyboard.press("Escape");
  assert.equal(await page.evaluate(() => cairn.steering.on), false);
  assert.equal(await page.evaluate(() => cairn.inspector.id), MOVER, "the mover is still chosen");
  assert.equal(await page.getAttribute("#steer", "aria-pressed"), "false");
  // The button begins, too, and another choice ends.
  await page.click("#steer");
  await page.waitForFunction(() => cairn.steering.on);
  await page.evaluate((id) => cairn.choose(id), HEAVY);
  assert.equal(await page.evaluate(() => cairn.steering.on), false);
  const angle = () => page.evaluate(() => cairn.stage.controls.getAzimuthalAngle());
  const before = await angle();
  await page.focus("#stage");
  await page.keyboard.press("ArrowLeft");
  await page.waitForFunction((old) => Math.abs(cairn.stage.controls.getAzimuthalAngle() - old) > 0.03, before);
  assert.deepEqual(wrong, []);
});
