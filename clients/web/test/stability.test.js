/** The layer that shows whether the bodies stand: forces, breaking contacts, accelerations, verdict and margins. */
import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { daemon } from "../../js/test/daemon.js";
import { TOKEN, launch, writeTokens } from "./browser.js";

/** Six bricks in the plane without friction: one, two on it, three on them (docs/TOWERS.md). They fall. */
const TRIANGLE = `
world: { name: triangle, planar: true, gravity: [0, -1, 0] }
shapes:
  ground: { kind: polygon, points: [[-30, -1], [30, -1], [30, 0], [-30, 0]] }
  brick: { kind: polygon, points: [[-0.499, -0.125], [0.499, -0.125], [0.499, 0.125], [-0.499, 0.125]] }
prototypes:
  brick: { shape: brick, mass: 1, friction: 0 }
bodies:
  - { shape: ground, status: static, friction: 0 }
  - { like: brick, at: [0, 0.125, 0] }
  - { like: brick, at: [-0.5, 0.375, 0] }
  - { like: brick, at: [0.5, 0.375, 0] }
  - { like: brick, at: [-1, 0.625, 0] }
  - { like: brick, at: [0, 0.625, 0] }
  - { like: brick, at: [1, 0.625, 0] }
`;
/** A ball of 2 kg on two bars at 45 degrees, and a box of 1 kg on the ground. */
const BARS = `
world: { name: bars, gravity: [0, -10, 0] }
shapes: { ball: { kind: sphere, radius: 0.1 }, box: { kind: box, size: [1, 1, 1] }, ground: { kind: plane } }
bodies:
  - { shape: ground, status: static }
  - { name: ball, shape: ball, at: [0, 3, 0], mass: 2 }
  - { shape: box, at: [5, 0.5, 0], mass: 1 }
joints:
  - { type: distance, a: world, b: ball, at: [-1, 4, 0], at_b: [0, 0, 0] }
  - { type: distance, a: world, b: ball, at: [1, 4, 0], at_b: [0, 0, 0] }
`;
/** Two boxes of 1 m and 2 kg on each other: a tilt of more than half of g tips them. A third one lies beside them. */
const STACK = `
world: { name: stack, gravity: [0, -10, 0] }
shapes: { box: { kind: box, size: [1, 1, 1] }, ground: { kind: plane } }
bodies:
  - { shape: ground, status: static, friction: 1 }
  - { shape: box, at: [0, 0.5, 0], mass: 2, friction: 1 }
  - { shape: box, at: [0, 1.5, 0], mass: 2, friction: 1 }
  - { shape: box, at: [4, 0.5, 0], mass: 2, friction: 1 }
`;

let server, browser, home, page, address;
const wrong = [];

before(async () => {
  home = mkdtempSync(join(tmpdir(), "cairn-stability-"));
  const scenes = Object.entries({ triangle: TRIANGLE, stack: STACK, bars: BARS }).flatMap(([name, text]) => {
    const file = join(home, `${name}.yaml`);
    writeFileSync(file, text);
    return ["--scene", file];
  });
  server = await daemon("--web", "tcp:127.0.0.1:0", "--web-files", "dist", "--tokens", writeTokens(home), "--paused", ...scenes);
  address = await server.logged(/listening address=(http:\S+)/);
  browser = await launch();
  page = await (await browser.newContext({ viewport: { width: 1280, height: 720 } })).newPage();
  page.on("pageerror", (error) => wrong.push(error.message));
  page.on("console", (line) => { if (line.type() === "error") wrong.push(line.text()); });
  await page.goto(`${address}#world=triangle&token=${encodeURIComponent(TOKEN)}`);
  await page.waitForFunction(() => window.cairn?.moment() && cairn.framed());
  // How many questions are under way at once, and how many there were.
  await page.evaluate(() => {
    const { client } = cairn.link, { request } = client;
    window.asked = { now: 0, most: 0, all: 0 };
    client.request = async function counted(name, values, ...more) {
      if (values.query?.[0] !== 17) return request.call(this, name, values, ...more);
      asked.most = Math.max(asked.most, ++asked.now);
      asked.all++;
      try {
        return await request.call(this, name, values, ...more);
      } finally {
        asked.now--;
      }
    };
  });
  await page.click("#layer");
});
after(async () => {
  await browser?.close();
  await server?.stop();
  rmSync(home, { recursive: true, force: true });
});

/** Joins a world, waits for its first view, and for an answer about it. */
async function show(name) {
  await page.evaluate((world) => cairn.link.join(world), name);
  await page.waitForFunction((world) => cairn.framed() && cairn.link.world.name === world && answered(), name);
}

/** What is drawn: arrows by their first point and vector (longest: 1), crosses, opacity. */
const drawn = () => page.evaluate(() => {
  const { arrows, crosses, longest, group } = cairn.stability, matrix = cairn.stage.camera.matrix.clone();
  const list = Array.from({ length: arrows.count }, (_, i) => {
    arrows.getMatrixAt(i, matrix);
    const { elements } = matrix, colour = cairn.stage.scene.fog.color.clone();
    arrows.getColorAt(i, colour);
    return { from: elements.slice(12, 15), way: elements.slice(4, 7).map((v) => v / longest), colour: colour.getHexString() };
  });
  const { start, count } = crosses.geometry.drawRange;
  return { list, crosses: Array.from(crosses.geometry.attributes.position.array.slice(3 * start, 3 * count)),
    visible: group.visible, opacity: arrows.material.opacity };
});

const near = (a, b, off = 1e-5) => a.every((v, i) => Math.abs(v - b[i]) < off);

async function savePicture(name) {
  if (!process.env.CAIRN_PICTURES) return;
  await page.waitForFunction(() => cairn.stage.shade.complete);
  await page.screenshot({ path: join(process.env.CAIRN_PICTURES, name) });
}

test("a triangle falls: arrows of forces and accelerations, a cross at each contact that breaks, the verdict as text", async () => {
  await page.evaluate(() => { window.answered = () => cairn.stability.shown !== null && !cairn.stability.waiting; });
  await page.check("[name=stability]");
  await page.waitForFunction(() => answered());
  const { list, crosses, visible, opacity } = await drawn();
  const answer = await page.evaluate(() => cairn.link.world.stability({ limit: 4096 }));
  assert.equal(answer.verdict, "falls");
  assert.equal(visible, true);
  assert.equal(opacity, 0.95);
  const broken = answer.contacts.filter(({ breaks }) => breaks);
  assert.ok(broken.length > 0);
  assert.ok(near(crosses, broken.flatMap(({ point }) => point)));
  assert.equal(crosses.length, 3 * broken.length);
  // Forces: from their points, along them, with lengths as the roots.
  const forces = answer.contacts.map(({ point, normal, force, friction }) => ({ point, vector: normal.map((n, k) => n * force + friction[k]) }))
    .map((item) => ({ ...item, size: Math.hypot(...item.vector) }));
  const most = Math.max(...forces.map(({ size }) => size)), shown = forces.filter(({ size }) => size > 1e-4 * most);
  for (const [i, { point, vector, size }] of shown.entries()) {
    assert.ok(near(list[i].from, point), `arrow ${i} begins at ${list[i].from}, not ${point}`);
    assert.ok(near(list[i].way, vector.map((v) => (v / size) * Math.sqrt(size / most)), 1e-4), `arrow ${i}`);
  }
  // Accelerations: the outer bricks of the top row go down, the middle one goes up.
  const falls = list.slice(shown.length);
  assert.notEqual(falls[0].colour, list[0].colour);
  const wayAt = (x) => falls.find(({ from }) => near(from.slice(0, 2), [x, 0.625], 1e-3)).way[1];
  assert.ok(wayAt(-1) < -0.9 && wayAt(1) < -0.9 && wayAt(0) > 0.05, `${wayAt(-1)} ${wayAt(0)} ${wayAt(1)}`);
  assert.match(await page.textContent("#verdict"), /^Tick 0: falls: 5 of 6 bodies begin to move, \d of 14 contact points break; forces unique; residual 0\.\d+\.$/);
  // The forces are seen through the bodies.
  assert.equal(await page.evaluate(() => {
    let seen = true;
    cairn.stage.scene.traverse(({ userData: { batch } }) => { if (batch?.mesh) seen &&= batch.mesh.material?.transparent ?? true; });
    return seen;
  }), true);
  await savePicture("stability-falls.png");
  assert.deepEqual(wrong, []);
});

test("where the fall ends is drawn: outlines of the bodies there, arrows to them, and the energy", async () => {
  await page.check("#lowest");
  await page.waitForFunction(() => answered() && cairn.stability.shown.lowest !== null);
  const { ghosts, bodies, text } = await page.evaluate(() => {
    const { geometry } = cairn.stability.ghosts, { start, count } = geometry.drawRange;
    return { ghosts: Array.from(geometry.attributes.position.array.slice(3 * start, 3 * (start + count))),
      bodies: cairn.stability.shown.lowest.bodies, text: document.querySelector("#lowest-text").textContent };
  });
  const moved = bodies.filter(({ rise, slope }) => Math.abs(rise) + Math.abs(slope) > 1e-9);
  assert.ok(moved.length >= 3);
  assert.equal(ghosts.length, moved.length * 24 * 3);
  // The lowest corner of an outline is on the floor, and none is below.
  const heights = ghosts.filter((_, i) => i % 3 === 1);
  assert.ok(Math.abs(Math.min(...heights)) < 1e-3, `${Math.min(...heights)}`);
  assert.match(text, /^The energy falls by [\d.]+ J; \d bodies end elsewhere\.$/);
  const { list } = await drawn();
  const ends = list.filter(({ colour }) => colour === list.at(-1).colour);
  assert.equal(ends.length, moved.filter(({ rise }) => Math.abs(rise) > 1e-9).length);
  await savePicture("stability-lowest.png");
  await page.uncheck("#lowest");
  await page.waitForFunction(() => answered() && cairn.stability.shown.lowest === null);
  assert.equal(await page.textContent("#lowest-text"), "");
  assert.equal(await page.evaluate(() => cairn.stability.ghosts.geometry.drawRange.count), 0);
  assert.deepEqual(wrong, []);
});

test("a stack stands: the forces bear its weight, and the margins are those of tipping", async () => {
  await show("stack");
  assert.match(await page.textContent("#verdict"), /^Tick 0: stands, forces settled; 3 bodies, 12 contact points; 12 forces are not unique; residual \S+\.$/);
  assert.equal(await page.isVisible("#margins"), false);
  const contacts = await page.evaluate(() => cairn.stability.shown.answer.contacts);
  const { list, crosses } = await drawn();
  assert.equal(crosses.length, 0);
  assert.equal(list.length, contacts.length);
  assert.ok(list.every(({ way }) => way[1] > 0.3), "the forces press upward");
  assert.ok(Math.abs(contacts.reduce((sum, { a, force }) => sum + (a === 1 ? force : 0), 0) - 60) < 1e-6, "the ground bears 6 kg");
  await page.selectOption("#margin", "tilt");
  await page.waitForFunction(() => answered() && cairn.stability.shown.margins.size === 4);
  const rows = await page.$$eval("#margins tbody tr", (lines) => lines.map(({ cells }) => Array.from(cells, ({ textContent }) => textContent)));
  assert.deepEqual(rows, ["+x", "−x", "+z", "−z"].map((along) => [along, "0.5000 (26.57°)", "0.5000 (26.57°)"]));
  await savePicture("stability-margin.png");
  // A push at the mass centre of the lone box: its weight 20 N tips it, and friction 1 holds it as long.
  await page.selectOption("#margin", "push");
  await page.waitForFunction(() => answered() && cairn.stability.shown.kind === "push");
  assert.match(await page.textContent("#margin-why"), /^Choose a body/);
  await page.evaluate(() => cairn.choose(4));
  await page.waitForFunction(() => answered() && cairn.stability.shown.margins.size === 6);
  const margins = await page.evaluate(() => [...cairn.stability.shown.margins].map(([along, { stands }]) => [along, stands]));
  for (const [along, stands] of margins) {
    if (along === "−y") assert.equal(stands, Infinity);
    else assert.ok(Math.abs(stands - 20) < 0.01, `${along}: ${stands} N`);
  }
  assert.match(await page.textContent("#margins"), /no limit/);
  assert.match(await page.textContent("#margins caption"), /push on body 4/);
  // A margin that the server refuses leaves the forces on the screen. The ground has no push.
  await page.evaluate(() => cairn.choose(1));
  await page.waitForFunction(() => answered() && document.getElementById("margin-why").textContent.length > 0);
  assert.equal(await page.isVisible("#margins"), false);
  assert.equal((await drawn()).list.length, contacts.length);
  await page.evaluate(() => cairn.choose(0));
  await page.selectOption("#margin", "");
  assert.deepEqual(wrong, []);
});

test("bars have arrows, too: of their forces on their second bodies, to the scale of contacts", async () => {
  await show("bars");
  const { list } = await drawn(), pull = 20 / Math.SQRT2; // of each bar, the largest force
  const bars = list.filter(({ from }) => near(from, [0, 3, 0]));
  assert.equal(bars.length, 2);
  for (const [i, side] of [-1, 1].entries())
    assert.ok(near(bars[i].way, [side * Math.SQRT1_2, Math.SQRT1_2, 0], 1e-4), `${bars[i].way}`);
  const contacts = list.filter(({ colour }) => colour !== bars[0].colour);
  assert.equal(contacts.length, 4);
  for (const { way } of contacts) assert.ok(near(way.map(Math.abs), [0, Math.sqrt(2.5 / pull), 0], 1e-4), `${way}`);
  await show("stack");
  assert.deepEqual(wrong, []);
});

test("it is asked anew on demand and when bodies come to rest, one question at a time", async () => {
  await page.waitForFunction(() => answered() && cairn.stability.shown.kind === "");
  const count = () => page.evaluate(() => asked.all), before = await count();
  for (let i = 0; i < 10; i++) await page.click("#ask");
  await page.waitForFunction((old) => answered() && asked.all > old, before);
  assert.equal(await page.evaluate(() => asked.most), 1);
  // At rest nothing is asked.
  const resting = await count();
  await page.waitForTimeout(800);
  assert.equal(await count(), resting);
  // While the bodies move, the old answer is shown as old; at rest there is a new one.
  await page.evaluate(async () => {
    const { world } = cairn.link;
    await world.push(4, [0, 6, 0], { impulse: true });
    await world.control("resume");
  });
  await page.waitForFunction(() => cairn.stability.arrows.material.opacity < 0.5 &&
    /The bodies have moved since\.$/.test(document.getElementById("verdict").textContent));
  // A server that pauses for half a second looks like rest, so an answer about a body in flight may come first.
  await page.waitForFunction(() => answered() && cairn.stability.shown.tick > 60 && cairn.stability.arrows.material.opacity > 0.5 &&
    /^Tick \d+: stands.*\d\.$/.test(document.getElementById("verdict").textContent));
  assert.equal(await page.evaluate(() => asked.most), 1);
  await page.evaluate(() => cairn.link.world.control("pause"));
  assert.deepEqual(wrong, []);
});

test("what the server refuses is told; switched off, nothing is drawn and nothing is asked", async () => {
  await page.evaluate(async () => {
    const { world } = cairn.link, shape = await world.shape(cairn.shapes.box(1, 1, 1));
    await world.spawn({ shapes: [[shape]], position: [8, 0.2, 0] });
  });
  await page.waitForFunction(() => /overlap/.test(document.getElementById("verdict").textContent));
  assert.equal((await drawn()).list.length, 0);
  await page.uncheck("[name=stability]");
  assert.equal(await page.isVisible("#stability"), false);
  assert.equal((await drawn()).visible, false);
  const count = await page.evaluate(() => asked.all);
  await page.evaluate(() => cairn.link.world.step(3));
  await page.waitForTimeout(300);
  assert.equal(await page.evaluate(() => asked.all), count);
  assert.deepEqual(wrong, []);
});
