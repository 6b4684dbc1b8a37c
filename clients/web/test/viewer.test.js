/** The page in headless Chromium against a real daemon: its picture, its texts, and its mouse and keyboard input. */
import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { command, shapes } from "../../js/src/index.js";
import { connect } from "../../js/src/tcp.js";
import { daemon, relay } from "../../js/test/daemon.js";
import { TOKEN, launch, writeTokens } from "./browser.js";

const SCENES = `${process.env.CAIRN_SRCDIR}/clients/scenes`;
const VIEW = { width: 640, height: 400 };
/** Largest difference between the hues of a lit face and of its material, degrees. */
const HUE_TOLERANCE = 12;

const CONTROLLER = `#world=tower&token=${encodeURIComponent(TOKEN)}`;
/** A world at rest. */
const CALM = `#world=pyramid&token=${encodeURIComponent(TOKEN)}`;

/** A scene of a dynamic wedge (a solid) on a floor, a box beside the wedge and a box 60 m from it, out of sight. */
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

let server, browser, home, tokens;
before(async () => {
  home = mkdtempSync(join(tmpdir(), "cairn-web-"));
  tokens = writeTokens(home);
  writeFileSync(join(home, "odd.yaml"), JSON.stringify(ODD));
  server = await viewerDaemon("--web", "tcp:127.0.0.1:0", "--scene", `${SCENES}/tower.yaml`, "--scene",
    `${SCENES}/mixed.yaml`, "--scene", `${SCENES}/pyramid.yaml`, "--scene", `${SCENES}/planar.yaml`, "--scene",
    join(home, "odd.yaml"));
  browser = await launch();
});
after(async () => {
  await browser?.close();
  await server?.stop();
  rmSync(home, { recursive: true, force: true });
});

async function viewerDaemon(...options) {
  const started = await daemon("--web-files", "dist", "--tokens", tokens, ...options);
  return { ...started, page: await started.logged(/listening address=(http:\S+)/) };
}

/** Opens a page and waits for its first picture of a world. page.wrong collects its errors, page.elsewhere its requests to
 * other servers. */
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
  await page.waitForFunction(() => window.cairn?.moment() && cairn.link.mirror?.count > 1 && cairn.framed());
  await page.evaluate(() => new Promise((resolve) => { requestAnimationFrame(() => requestAnimationFrame(resolve)); }));
  return page;
}

/** Points the camera at the topmost dynamic body, which no other body hides; returns its id and its place on the page. */
const lookAtBody = (page) => page.evaluate(async () => {
  const { link, stage, crowd } = cairn;
  const height = (id) => link.mirror.position[link.mirror.slots.get(id) * 3 + 1];
  const id = [...link.mirror.slots.keys()].filter((k) => link.mirror.body(k).status === "dynamic")
    .reduce((top, k) => (height(k) > height(top) ? k : top));
  const { position } = crowd.poseOf(link.mirror, cairn.moment(), id);
  stage.controls.target.copy(position);
  stage.camera.position.copy(position).add({ x: 1.5, y: 3, z: 6 });
  cairn.wake();
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

/** Waits for `count` pictures. */
const pictures = (page, count = 2) => page.evaluate(async (n) => {
  for (let i = 0; i < n; i++) await new Promise((resolve) => { requestAnimationFrame(resolve); });
}, count);

/** The hue of a colour that is not grey, degrees. */
const hue = ([r, g, b]) => (Math.atan2(Math.sqrt(3) * (g - b), 2 * r - g - b) * 180) / Math.PI;

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

test("a body is drawn at its place, and the chosen body in its colour", async () => {
  const page = await open(CONTROLLER, { shadows: true });
  // Paused, because the tower falls and the body would move away from the pixel.
  await page.click("#pause");
  await page.waitForFunction(() => cairn.link.world.mode === "paused");
  await page.waitForTimeout(500);
  const spot = await lookAtBody(page);
  const chosen = [255, 209, 102]; // CHOSEN of crowd.js
  const plain = await pixel(page, spot);
  // Without the lines of its contact forces, which may pass in front of it.
  await page.evaluate((id) => { cairn.contacts.refresh = () => {}; cairn.choose(id); }, spot.id);
  await page.waitForTimeout(300);
  const lit = await pixel(page, spot), above = await pixel(page, { x: VIEW.width / 2, y: 60 });
  // The brightness depends on the visible side; the hue does not.
  assert.ok(Math.max(...lit) > 80 && Math.abs(hue(lit) - hue(chosen)) < HUE_TOLERANCE, `chosen ${lit}`);
  assert.ok(distance(lit, plain) > 25, `${plain} before the choice`);
  assert.ok(lit[0] > lit[2] + 20, `yellow, not ${lit}`);
  assert.ok(distance(lit, above) > 40, `${above} above the body`);
  const fast = (word) => page.evaluate(([id, on]) => cairn.link.world.apply([14, id, 2, on]), [spot.id, word]);
  await fast(2);
  await page.waitForFunction(() => document.getElementById("facts").textContent.includes("dynamic, fast"));
  await fast(1);
  await page.waitForFunction(() => !document.getElementById("facts").textContent.includes("fast"));
  await page.click("#pause");
  await page.waitForFunction(() => cairn.link.world.mode === "running");
  assert.deepEqual(page.wrong, []);
  await page.close();
});

test("curved and rounded shapes are drawn as large as their boxes", async () => {
  const place = await viewerDaemon("--web", "tcp:127.0.0.1:0", "--scene", `${SCENES}/shapes.yaml`);
  const page = await open("", { at: place.page });
  await page.waitForFunction(() => {
    const kinds = new Set();
    cairn.stage.scene.traverse((o) => { if (o.userData.batch && o.count > 0) kinds.add(o.userData.batch.kind); });
    return ["rounded", "cylinder", "cone", "ellipsoid"].every((kind) => kinds.has(kind));
  });
  const heights = await page.evaluate(() => {
    const found = {};
    cairn.stage.scene.traverse((o) => {
      if (!o.userData.batch || o.count === 0) return;
      o.geometry.computeBoundingBox();
      const { min, max } = o.geometry.boundingBox;
      (found[o.userData.batch.kind] ??= []).push(max.y - min.y);
    });
    return found;
  });
  const near = (list, sizes) => assert.deepEqual(list.sort().map((y) => Math.round(y * 1000) / 1000), sizes);
  near(heights.cylinder, [0.12, 0.8]);
  near(heights.cone, [0.8]);
  near(heights.ellipsoid, [0.4, 0.9]);
  near(heights.rounded, [0.7, 0.82]);
  assert.deepEqual(page.wrong, []);
  await page.close();
  await place.stop();
});

test("every kind of shape is drawn, hulls and meshes too, each placement once", async () => {
  const page = await open("#world=mixed");
  await page.waitForFunction(() => {
    const kinds = new Set();
    cairn.stage.scene.traverse((o) => { if (o.userData.batch && o.count > 0) kinds.add(o.userData.batch.kind); });
    return ["sphere", "capsule", "box", "hull", "mesh", "plane"].every((kind) => kinds.has(kind));
  });
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
  test(`${kinds} of ${world} are drawn at their places and sizes`, async () => {
    const page = await open(`#world=${world}`);
    const seen = await page.evaluate(() => {
      const found = [];
      cairn.stage.scene.traverse((o) => {
        if (!o.userData.batch) return;
        o.geometry.computeBoundingBox();
        const { min, max } = o.geometry.boundingBox;
        found.push({ kind: o.userData.batch.kind, count: o.count, size: max.clone().sub(min).toArray(),
          at: Array.from({ length: o.count }, (_, i) => o.placeAt(i)) });
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

test("a body casts a shadow on the ground, and none if shadows are off", async () => {
  const page = await open("#world=odd", { shadows: true });
  // The far box's shadow falls away from the sun, to x and −z.
  const spot = await page.evaluate(async () => {
    const { stage } = cairn;
    stage.controls.target.set(60.7, 0, -0.4);
    stage.camera.position.set(63, 4, -3);
    cairn.wake();
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

test("dragging the empty picture turns the camera, the wheel moves it nearer, and the key R resets it", async () => {
  const page = await open("#world=pyramid");
  const camera = () => page.evaluate(() => {
    const { camera, controls } = cairn.stage, away = camera.position.clone().sub(controls.target);
    return { angle: Math.atan2(away.x, away.z), length: away.length() };
  });
  await page.focus("#stage");
  await page.keyboard.press("r"); // the view that the key gives; the first one may come before all bodies
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
  await page.keyboard.press("r");
  const again = await camera();
  assert.ok(Math.abs(again.length - first.length) < 0.05 * first.length, `${again.length} after ${first.length}`);
  assert.deepEqual(page.wrong, []);
  await page.close();
});

test("the panel and the picture show the contacts of the chosen body with their forces", async () => {
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
  // The box of 2 kg rests on the floor with four points that carry its weight.
  assert.equal(touching[0].points, 4);
  assert.ok(Math.abs(touching[0].force - 2 * 9.81) < 0.5, JSON.stringify(touching));
  assert.equal(count, 4);
  assert.match(table, /19\.\d+ N/);
  await page.click("#leave");
  await page.waitForFunction(() => !cairn.contacts.points.visible);
  await page.close();
});

test("the camera moves with a followed body", async () => {
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

test("Only what I see restricts the subscription to the frustum, and switching it off restores all bodies", async () => {
  const page = await open("#world=odd");
  const all = await page.evaluate(() => cairn.link.mirror.count);
  await page.evaluate(() => {
    cairn.stage.controls.target.set(4, 0, 0);
    cairn.stage.camera.position.set(4, 3, 8);
  });
  await page.click("#focus");
  // The far box is not in the picture. The floor stays, because static bodies are followed.
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

test("a click chooses a body, and the panel shows its facts", async () => {
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
  // A frame sets the count; the next picture makes points and forces visible.
  await page.waitForFunction(() => cairn.contacts.count > 0 && cairn.contacts.points.visible && cairn.contacts.forces.visible);
  await page.click("#contacts");
  await page.waitForFunction(() => !cairn.contacts.points.visible && !cairn.contacts.forces.visible);
  assert.deepEqual(page.wrong, []);
  await page.close();
});

test("choosing another world in the list joins it", async () => {
  const page = await open("#world=tower");
  await page.selectOption("#world", "mixed");
  await page.waitForFunction(() => cairn.link.world?.name === "mixed" && cairn.link.mirror?.count > 20);
  assert.deepEqual(page.wrong, []);
  await page.close();
});

/** Creates a paused world for one test; returns it with the client that made it. */
async function tuned(name) {
  const maker = await connect(server.address), world = await maker.create(name);
  const smooth = { static_friction: 0, dynamic_friction: 0 }; // some methods have no friction, and pile moves spheres and polyhedra alone
  await world.spawn({ status: 1, shapes: [[await world.shape(shapes.plane([0, 1, 0]))]], ...smooth });
  await world.spawn({ shapes: [[await world.shape(shapes.sphere(0.5))]], position: [0, 0.5, 0], ...smooth });
  const valueOf = async (parameter) => (await world.parameters()).find((facts) => facts.name === parameter).value;
  const set = (parameter, value) => world.send(command("parameter", { name: parameter, value }));
  return { maker, world, valueOf, set, hash: `#world=${name}&token=${encodeURIComponent(TOKEN)}` };
}

/** Opens the panel of methods and parameters with the key M and waits until it has content. */
async function openPhysics(page) {
  await page.focus("#stage");
  await page.keyboard.press("m");
  await page.waitForFunction(() => cairn.physics.shown !== null);
}

const input = (page, parameter) => page.getByLabel(parameter, { exact: true });
const refusal = (page, parameter) => page.locator(`.parameter[data-name="${parameter}"] .refused`);

/** Types a value and presses Enter. */
async function type(page, parameter, value) {
  await input(page, parameter).fill(String(value));
  await page.keyboard.press("Enter");
}

/** The methods and parameters as the panel shows them. */
const physicsOf = (page) => page.evaluate(() => {
  const rows = (list) => [...document.querySelectorAll(`${list} > .parameter`)].map((row) => {
    const field = row.querySelector("input"), text = (name) => row.querySelector(name).textContent;
    return { name: text("label"), unit: text(".unit"), meaning: text(".meaning"), least: field.min, most: field.max,
      value: field.type === "checkbox" ? Number(field.checked) : Number(field.value), label: field.labels[0]?.textContent };
  });
  return {
    methods: [...document.querySelectorAll("#methods > li")].map((item) => ({ name: item.querySelector("strong").textContent,
      used: item.getAttribute("aria-current") === "true", text: item.innerText })),
    read: rows("#parameters"), unread: rows("#unread"), title: document.getElementById("readby").textContent,
  };
});

/** Asserts that the panel shows the methods and parameters that the server returns. */
async function assertShown(page, world) {
  await world.refresh();
  const [shown, methods, parameters] = [await physicsOf(page), await world.methods(), await world.parameters()];
  assert.deepEqual(shown.methods.map(({ name, used }) => [name, used]),
    methods.map(({ name }) => [name, name === world.method]));
  for (const [i, { summary, abilities, names }] of methods.entries())
    for (const words of [summary, ...abilities, ...names.map(({ name }) => name)])
      assert.ok(shown.methods[i].text.includes(words), `${words} in ${shown.methods[i].text}`);
  assert.equal(shown.title, `Parameters of ${world.method}`);
  const reads = ({ methods: readers }) => readers.includes(world.method);
  for (const [rows, facts] of [[shown.read, parameters.filter(reads)], [shown.unread, parameters.filter((p) => !reads(p))]]) {
    assert.deepEqual(rows.map(({ name, label, value, unit }) => ({ name, label, value, unit })),
      facts.map(({ name, value, unit }) => ({ name, label: name, value, unit })));
    for (const [i, { meaning, initial, least, most, whole }] of facts.entries()) {
      for (const words of [meaning, `within ${least} and ${most}`, `default ${initial}`])
        assert.ok(rows[i].meaning.toLowerCase().includes(words.toLowerCase()), `${words} in ${rows[i].meaning}`);
      if (!whole || least !== 0 || most !== 1) assert.deepEqual([rows[i].least, rows[i].most], [String(least), String(most)]);
    }
  }
}

test("the panel lists the server's methods and parameters, with each method in use", async () => {
  const { maker, world, hash } = await tuned("listed");
  const page = await open(hash);
  await openPhysics(page);
  for (const { name } of await world.methods()) {
    await world.send(command("method", { name }));
    await page.waitForFunction((used) => cairn.physics.shown.method === used, name);
    await assertShown(page, world);
  }
  assert.deepEqual(page.wrong, []);
  await page.close();
  maker.close();
});

test("a changed parameter takes effect; a refused value is reported beside the field and changes nothing", async () => {
  const { maker, world, valueOf, hash } = await tuned("changed");
  const page = await open(hash), name = "soft_step.substeps";
  await openPhysics(page);
  for (const mode of ["paused", "running"]) {
    if (mode === "running") await world.control("resume");
    await type(page, name, 8);
    await page.waitForFunction((n) => cairn.physics.shown.parameters.find((p) => p.name === n).value === 8, name);
    assert.equal(await valueOf(name), 8);
    for (const [bad, words] of [[65, /is 65: .* within 1 and 64.*In force: 8/], [2.5, /is 2.5: .* integer/], [-1, /is -1: /],
      ["", /must be a number/]]) {
      await type(page, name, bad);
      await refusal(page, name).filter({ hasText: words }).waitFor();
      assert.equal(await input(page, name).getAttribute("aria-invalid"), "true");
      assert.equal(await valueOf(name), 8, `${bad} is refused`);
    }
    await page.keyboard.press("Escape");
    assert.deepEqual([await input(page, name).inputValue(), await refusal(page, name).textContent()], ["8", ""]);
    await page.getByLabel(`Default of ${name}`).click();
    await page.waitForFunction((n) => document.getElementById(`parameter-${n}`).value === "4", name);
    assert.equal(await valueOf(name), 4);
    const before = await valueOf("sleep.enabled");
    await input(page, "sleep.enabled").focus();
    await page.keyboard.press("Space");
    await page.waitForFunction((v) => cairn.physics.shown.parameters.find((p) => p.name === "sleep.enabled").value !== v, before);
    assert.equal(await valueOf("sleep.enabled"), 1 - before);
  }
  await assertShown(page, world);
  assert.equal(await page.evaluate(() => cairn.link.world.mode), "running", "no key in a field is a command of the page");
  assert.deepEqual(page.wrong, []);
  await page.close();
  maker.close();
});

test("the keyboard switches to another method, and the panel shows its parameters", async () => {
  const { maker, world, hash } = await tuned("switched");
  const page = await open(hash);
  await openPhysics(page);
  for (const name of ["reflection", "soft-step", "lcp"]) {
    const button = page.getByRole("button", { name: `Use ${name}`, exact: true });
    assert.equal(await button.getAttribute("aria-pressed"), "false");
    await button.focus();
    await page.keyboard.press("Enter");
    await page.waitForFunction((used) => cairn.physics.shown.method === used, name);
    assert.equal(await button.getAttribute("aria-pressed"), "true");
    assert.ok(await button.evaluate((element) => element === document.activeElement), "the focus stays");
    assert.equal((await maker.list()).find((info) => info.name === "switched").method, name);
    await assertShown(page, world);
    assert.match(await page.textContent("#state"), new RegExp(`controller, ${name}, paused`));
  }
  // The server refuses a method that it listed before.
  await page.evaluate(() => {
    const { world } = cairn.link, send = world.send.bind(world);
    world.send = ([number]) => send([number, "withdrawn"]);
  });
  await page.getByRole("button", { name: "Use free", exact: true }).click();
  await page.locator('.method[data-name="free"] .refused', { hasText: "withdrawn: there is no such method" }).waitFor();
  await world.refresh();
  assert.equal(world.method, "lcp");
  assert.deepEqual(page.wrong, []);
  await page.close();
  maker.close();
});

test("the panel shows changes by other sessions and does not overwrite a field that is being edited", async () => {
  const { maker, world, set, valueOf, hash } = await tuned("shared");
  const page = await open(hash), name = "contact.push_speed", other = "restitution.speed";
  const shows = (parameter, value) => page.waitForFunction(([p, v]) =>
    Number(document.getElementById(`parameter-${p}`).value) === v, [parameter, value]);
  await openPhysics(page);
  for (const mode of ["paused", "running"]) {
    if (mode === "running") await world.control("resume");
    await set(name, 5);
    await shows(name, 5);
    await input(page, name).fill("7.5");
    await set(name, 6);
    await set(other, 2);
    await shows(other, 2);
    assert.equal(await input(page, name).inputValue(), "7.5");
    // A parameter that both methods read keeps its line, its text and the focus.
    for (const method of ["lcp", "soft-step"]) {
      await world.send(command("method", { name: method }));
      await page.waitForFunction((used) => cairn.physics.shown.method === used, method);
      assert.ok(await input(page, name).evaluate((element) => element === document.activeElement), "the focus stays");
      assert.deepEqual([await input(page, name).inputValue(), await valueOf(name)], ["7.5", 6]);
    }
    await input(page, name).press("Escape");
    await shows(name, 6);
    // If the line of a field with unfinished text is removed, the text is discarded, not sent.
    const gone = "soft_step.substeps", before = await valueOf(gone);
    await input(page, gone).fill("9");
    await world.send(command("method", { name: "lcp" }));
    await page.waitForFunction(() => cairn.physics.shown.method === "lcp");
    assert.ok(await page.evaluate(() => document.getElementById("physics").contains(document.activeElement)));
    await page.click("#physics-title");
    await world.send(command("method", { name: "soft-step" }));
    await page.waitForFunction(() => cairn.physics.shown.method === "soft-step");
    await shows(gone, before);
    assert.equal(await valueOf(gone), before);
    await set(other, 1);
    await shows(other, 1);
  }
  // Scrolling the panel over a field does not change its value.
  await input(page, name).focus();
  const box = await input(page, name).boundingBox();
  await page.mouse.move(box.x + 5, box.y + 5);
  const scrolled = await page.evaluate(() => document.getElementById("physics").scrollTop);
  await page.mouse.wheel(0, 120);
  await page.waitForFunction((from) => document.getElementById("physics").scrollTop !== from, scrolled);
  await page.waitForTimeout(200);
  assert.deepEqual([await input(page, name).inputValue(), await valueOf(name)], ["6", 6]);
  // In a world that another session steps, the change waits for the step; until then its line is busy.
  await world.control("lockstep");
  await type(page, name, 9);
  await page.waitForFunction((p) => document.getElementById(`parameter-${p}`).closest("[aria-busy=true]"), name);
  assert.equal(await valueOf(name), 6);
  await world.step(1);
  await page.waitForFunction((p) => !document.getElementById(`parameter-${p}`).closest("[aria-busy=true]"), name);
  assert.equal(await valueOf(name), 9);
  await shows(name, 9);
  assert.deepEqual(page.wrong, []);
  await page.close();
  maker.close();
});

test("an observer sees methods and parameters and cannot change them", async () => {
  const { maker, world } = await tuned("looked-at");
  const page = await open("#world=looked-at"), before = await world.parameters();
  await openPhysics(page);
  await page.click("#others summary");
  await assertShown(page, world);
  for (const button of await page.locator("#methods button, .parameter button").all()) assert.equal(await button.isVisible(), false);
  const fields = await page.locator(".parameter input").all();
  assert.equal(fields.length, before.length);
  for (const field of fields) assert.equal(await field.isEditable(), false);
  // The server refuses changes even if the page sends them.
  await page.evaluate(() => {
    const field = document.getElementById("parameter-soft_step.substeps");
    field.value = 9;
    field.dispatchEvent(new Event("change"));
    Object.assign(document.querySelector('.method[data-name="free"] button'), { disabled: false }).click();
  });
  await refusal(page, "soft_step.substeps").filter({ hasText: "forbidden" }).waitFor();
  await page.locator('.method[data-name="free"] .refused', { hasText: "forbidden" }).waitFor();
  await world.refresh();
  assert.deepEqual([await world.parameters(), world.method], [before, "soft-step"]);
  assert.deepEqual(page.wrong, []);
  await page.close();
  maker.close();
});

test("the panel opens and closes by keys, sends no query while closed, and shows markup of the server as text", async () => {
  const { maker, world, hash } = await tuned("worded");
  await world.control("resume");
  const page = await open(hash), focused = () => page.evaluate(() => document.activeElement.id);
  await page.evaluate(() => {
    const own = cairn.link.world, { methods, parameters } = own;
    cairn.queries = 0;
    own.methods = async () => {
      cairn.queries++;
      return (await methods.call(own)).map((facts) => ({ ...facts, summary: "<b id=bold>summary</b>", why: "<i>why</i>" }));
    };
    own.parameters = async () => (await parameters.call(own)).map((facts) => ({ ...facts, meaning: "<img src=x>", unit: "<u>" }));
  });
  await openPhysics(page);
  assert.equal(await focused(), "physics");
  assert.equal(await page.getAttribute("#method", "aria-expanded"), "true");
  assert.equal(await page.locator("#physics :is(b, i, img, u)").count(), 0);
  assert.match(await page.textContent("#methods"), /<b id=bold>summary<\/b>.*cannot switch to this method now.*<i>why<\/i>/);
  // A method that the world cannot switch to has a disabled button.
  for (const button of await page.locator("#methods button").all()) assert.equal(await button.isDisabled(), true);
  await page.waitForFunction(() => cairn.queries >= 2);
  await page.focus("#others summary");
  await page.keyboard.press("Space");
  await page.waitForFunction(() => document.getElementById("others").open);
  await page.waitForTimeout(200);
  await world.refresh();
  assert.equal(world.mode, "running", "the key folds the list and does not pause");
  await page.keyboard.press("Escape");
  assert.deepEqual([await page.isVisible("#physics"), await focused()], [false, "method"]);
  await page.waitForTimeout(200);
  const sent = await page.evaluate(() => cairn.queries);
  await page.waitForTimeout(1500);
  assert.equal(await page.evaluate(() => cairn.queries), sent);
  await page.keyboard.press("Enter");
  await page.waitForFunction((n) => cairn.queries > n, sent);
  await page.click("#shut");
  assert.equal(await page.isVisible("#physics"), false);
  assert.deepEqual(page.wrong, []);
  await page.close();
  maker.close();
});

test("joints are drawn from their anchors, and a broken joint disappears", async () => {
  const doors = await viewerDaemon("--web", "tcp:127.0.0.1:0", "--paused", "--scene", `${SCENES}/door.yaml`);
  const page = await open(`#world=door&token=${encodeURIComponent(TOKEN)}`, { at: doors.page });
  await page.waitForFunction(() => cairn.link.mirror.joints.items.size === 2);
  assert.equal(await page.evaluate(() => cairn.joints.lines.visible), false);
  await page.keyboard.press("j");
  await page.waitForFunction(() => cairn.joints.count === 2);
  assert.equal(await page.isChecked("#joints"), true);
  const drawn = await page.evaluate(() => {
    const { lines, points } = cairn.joints;
    const round = (object, count) => [...object.geometry.attributes.position.array.slice(0, count * 3)]
      .map((value) => Math.round(value * 1000) / 1000);
    return { lines: lines.geometry.drawRange.count / 2, points: round(points, points.geometry.drawRange.count) };
  });
  // Each of the two joints has an arm on the leaf's side and a line between its anchors; the hinge also has an axis. The hinge is
  // at the left edge of the leaf, the latch at the right edge.
  assert.deepEqual(drawn, { lines: 5, points: [0, 1.05, 0, 0, 1.05, 0, 1, 1.05, 0, 1, 1.05, 0] });
  await page.click("#pause");
  await page.waitForFunction(() => cairn.joints.count === 1);
  await page.click("#joints");
  await page.waitForFunction(() => !cairn.joints.lines.visible && !cairn.joints.points.visible);
  assert.deepEqual(page.wrong, []);
  await page.close();
  await doors.stop();
});

test("force fields are drawn while they are shown, and follow their commands", async () => {
  const place = await viewerDaemon("--web", "tcp:127.0.0.1:0", "--paused", "--scene", `${SCENES}/fields.yaml`);
  const page = await open(`#world=fields&token=${encodeURIComponent(TOKEN)}`, { at: place.page });
  await page.keyboard.press("e");
  const shown = (lines, surfaces) => page.waitForFunction(([lines, surfaces]) => {
    const visible = (type) => cairn.fields.group.children.flatMap(({ children }) => children)
      .filter((object) => object.visible && object.type === type).length;
    return visible("LineSegments") === lines && visible("Mesh") === surfaces;
  }, [lines, surfaces]);
  await shown(7, 0); // of four fields, three with the border of a box
  assert.equal(await page.evaluate(() => cairn.fields.count), 4);
  const places = await page.evaluate(() => cairn.fields.group.children.map(({ position }) => position.toArray()));
  assert.deepEqual(places, [[-9, 1, 0], [0, 4, 0], [9.2, 4, -0.8], [17, 5, 0]]);
  const force = await page.evaluate(() => cairn.link.world.fieldForce([17, 5, 0], { velocity: [0, 2, 0] }));
  assert.deepEqual(force, { acceleration: [0, -2 * 9.81, 0], force: [0, 0, 0] });
  await page.evaluate(([remove, set]) => cairn.link.world.send(remove, set),
    [command("field_remove", { field: 1 }), command("field_set", { field: 2, kind: "wind", position: [1, 2, 3] })]);
  await page.waitForFunction(() => cairn.fields.count === 3);
  assert.deepEqual(await page.evaluate(() => cairn.fields.group.children[0].position.toArray()), [1, 2, 3]);
  await page.evaluate((create) => cairn.link.world.send(create),
    command("field_create", { kind: "fluid", region: "box", half: [3, 1, 4], density: 1000 }));
  await page.waitForFunction(() => cairn.fields.count === 4);
  await page.click("#fields");
  await shown(0, 1); // the water stays
  await page.evaluate(async () => {
    await cairn.link.client.create("dry");
    await cairn.link.join("dry");
  });
  await shown(0, 0); // and does not follow into another world
  assert.deepEqual(page.wrong, []);
  await page.close();
  await place.stop();
});

test("an observer's page shows no controls, and the server refuses its commands", async () => {
  const page = await open("#world=tower");
  for (const id of ["pause", "step", "speed", "push"]) assert.equal(await page.isVisible(`#${id}`), false, id);
  const status = await page.evaluate(() => cairn.link.world.control("pause").catch((error) => error.status));
  assert.equal(status, "forbidden");
  await page.close();
});

test("a controller pauses, steps and sets the speed", async () => {
  const page = await open(CONTROLLER);
  await page.click("#pause");
  await page.waitForFunction(() => cairn.link.world.mode === "paused");
  assert.equal(await page.textContent("#pause"), "Resume");
  // Wait for the last frames, then for the picture of the newest one.
  await page.waitForTimeout(500);
  await page.waitForFunction(() => cairn.playback.playhead === cairn.link.mirror.tick);
  const before = await page.evaluate(() => cairn.link.mirror.tick);
  await page.click("#step");
  await page.waitForFunction((tick) => cairn.link.mirror.tick > tick, before);
  await page.waitForTimeout(200);
  assert.equal(await page.evaluate(() => cairn.link.mirror.tick), before + 1);
  await page.keyboard.press("."); // the button has the focus, so the key is not a command of the page
  await page.click("#stage", { position: { x: 5, y: VIEW.height - 5 }, force: true });
  await page.keyboard.press(" ");
  await page.waitForFunction(() => cairn.link.world.mode === "running");
  await page.selectOption("#speed", "0.25");
  await page.waitForFunction(() => cairn.statistics.values.dilation > 0.1 && cairn.statistics.values.dilation < 0.5);
  await page.selectOption("#speed", "1");
  assert.deepEqual(page.wrong, []);
  await page.close();
});

test("a dragged body follows the pointer through a drag joint, and a pushed body gains speed", async () => {
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
  // A joint of type drag between the world and the body, removed on release.
  const held = () => page.evaluate(() => [...cairn.link.mirror.joints.items.values()].map(({ type, a, b }) => ({ type, a, b })));
  assert.deepEqual(await held(), [{ type: "drag", a: 0, b: spot.id }]);
  await page.mouse.up();
  await page.waitForFunction(() => cairn.link.mirror.joints.items.size === 0);
  await page.evaluate((id) => { cairn.choose(id); }, spot.id);
  const before = await page.evaluate((id) => Math.hypot(...cairn.link.mirror.body(id).velocity), spot.id);
  await page.click("#push");
  await page.waitForFunction(([id, v]) => Math.hypot(...cairn.link.mirror.body(id).velocity) > Math.min(v, 1) + 1,
    [spot.id, before]);
  assert.deepEqual(page.wrong, []);
  await page.close();
});

test("a wrong token is reported in the banner, with a button to try again", async () => {
  const page = await browser.newPage({ viewport: VIEW });
  await page.goto(`${server.page}#token=not-that-one-at-all`);
  await page.waitForFunction(() => document.getElementById("state").textContent.startsWith("auth"));
  assert.equal(await page.getAttribute("#state", "data-state"), "lost");
  // The banner names the reason and offers Try now.
  await page.waitForFunction(() => !document.getElementById("banner").hidden);
  assert.match(await page.textContent("#banner"), /token.*wrong, used or expired/i);
  assert.equal(await page.isVisible("#again"), true);
  await page.close();
});

test("no panel overlaps another or leaves the window, on screens of four sizes", async () => {
  const page = await open(CONTROLLER);
  const sizes = [[390, 760], [800, 500], [1000, 660], [1280, 720]];
  for (const [width, height, physics] of sizes.flatMap((size) => [[...size, false], [...size, true]])) {
    await page.setViewportSize({ width, height });
    await page.evaluate((open) => {
      cairn.choose([...cairn.link.mirror.slots.keys()].at(-1));
      cairn.physics.toggle(open);
    }, physics);
    if (physics) await page.waitForFunction(() => cairn.physics.shown !== null);
    await pictures(page, 3);
    const names = ["header", "#pace", "#inspector", "#physics", "#statistics", "#help"];
    const boxes = (await Promise.all(names.map(async (name) =>
      ({ name, box: await page.locator(name).boundingBox() })))).filter(({ box }) => box !== null);
    assert.equal(boxes.some(({ name }) => name === "#physics"), physics);
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

test("after a lost connection the page resumes its session without a snapshot", async () => {
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
  // A longer loss is reported in the banner, which disappears after the resume.
  door.refuse(true);
  door.cut();
  await page.waitForFunction(() => !document.getElementById("banner").hidden);
  assert.match(await page.textContent("#banner"), /Trying again/);
  assert.equal(await page.getAttribute("#state", "data-state"), "lost");
  assert.ok(await page.evaluate(() => cairn.moment() !== null), "the last picture stays");
  door.refuse(false);
  // A script clicks, because the button is hidden if the page has already reconnected by itself.
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

test("if its world ends the page joins another, and without a world it waits for the first", async () => {
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

test("the playhead never runs backwards, nor ahead of the newest frame", async () => {
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

test("after a restart of the daemon the page reconnects by itself", async () => {
  const page = await open("#world=tower");
  const { port } = new URL(server.page);
  await server.stop();
  await page.waitForFunction(() => document.getElementById("state").dataset.state === "lost");
  server = await viewerDaemon("--web", `tcp:127.0.0.1:${port}`, "--scene", `${SCENES}/tower.yaml`);
  await page.waitForFunction(() => cairn.link.client && cairn.link.mirror?.count > 1 &&
    document.getElementById("state").dataset.state === "running");
  assert.deepEqual(page.wrong, []);
  await page.close();
});
