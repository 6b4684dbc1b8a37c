/** The scenes of the server's folder in the viewer, and scene files that are dropped on it. */
import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { daemon } from "../../js/test/daemon.js";
import { isScene, worldName } from "../src/scenes.js";
import { TOKEN, launch, writeTokens } from "./browser.js";

const BALLS = "# Balls in the air. And more.\nshapes: { ball: { kind: sphere, radius: 0.5 } }\nvariables: { n: 3 }\n"
  + "bodies:\n  - { shape: ball, at: [0, 5, 0], grid: { count: [$n, 1, 1], spacing: [2, 1, 1] } }\n";
const ARM = '<robot name="arm"><link name="base"><inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1"/></inertial>'
  + '<collision><geometry><box size="1 1 1"/></geometry></collision></link></robot>';

let server, plain, browser, home;
before(async () => {
  home = mkdtempSync(join(tmpdir(), "cairn-scenes-"));
  mkdirSync(join(home, "scenes", "robots"), { recursive: true });
  writeFileSync(join(home, "scenes", "balls.yaml"), BALLS);
  writeFileSync(join(home, "scenes", "robots", "arm.urdf"), ARM);
  const options = ["--web", "tcp:127.0.0.1:0", "--web-files", "dist", "--tokens", writeTokens(home), "--paused",
    "--scene", `${process.env.CAIRN_SRCDIR}/clients/scenes/cradle.yaml`];
  server = await daemon(...options, "--scene-folder", join(home, "scenes"));
  plain = await daemon(...options);
  browser = await launch();
});
after(async () => {
  await browser?.close();
  await server?.stop();
  await plain?.stop();
  rmSync(home, { recursive: true, force: true });
});

async function open(t, at, token = TOKEN) {
  const page = await browser.newPage({ viewport: { width: 900, height: 600 } });
  t.after(() => page.close());
  page.setDefaultTimeout(60000);
  page.wrong = [];
  page.on("pageerror", (error) => page.wrong.push(error.message));
  await page.goto(`${await at.logged(/listening address=(http:\S+)/)}#world=cradle${token ? `&token=${encodeURIComponent(token)}` : ""}`);
  await page.evaluate(() => { document.getElementById("shadows").click(); }); // which take long in software
  await page.waitForFunction(() => window.cairn?.moment() && cairn.framed());
  return page;
}

const dropFile = (page, name, text, shiftKey = false) => page.evaluate(([file, content, shift]) => {
  const dataTransfer = new DataTransfer();
  dataTransfer.items.add(new File([content], file));
  window.dispatchEvent(new DragEvent("drop", { dataTransfer, cancelable: true, clientX: 300, clientY: 200, shiftKey: shift }));
}, [name, text, shiftKey]);

const shows = (page, world, count) => page.waitForFunction(([name, bodies]) =>
  cairn.link.world?.name === name && cairn.link.mirror?.count === bodies && document.getElementById("world").value === name, [world, count]);
const noted = (page, words) => page.waitForFunction((text) => document.getElementById("note").textContent.includes(text), words);

test("a world's name is its scene's, as the server allows names, and a free one", () => {
  assert.equal(worldName("gallery/top.yaml", []), "top");
  assert.equal(worldName("top.yaml", ["top", "top-2"]), "top-3");
  assert.equal(worldName("Mein Turm (2).yaml", []), "Mein-Turm--2-");
  assert.equal(worldName(".hidden.yaml", []), "hidden");
  assert.equal(worldName(".yaml", []), "world");
  const long = worldName(`${"x".repeat(90)}.yaml`, ["x".repeat(60)]);
  assert.ok(long.length <= 64 && long.endsWith("-2"));
  assert.deepEqual(["a.YAML", "b.urdf", "c.obj", "yaml"].map(isScene), [true, true, false, true]);
});

test("a scene of the folder is found by a word, opened and shown, each time as a new world", async (t) => {
  const page = await open(t, server);
  await page.click("#browse");
  await page.waitForFunction(() => document.querySelectorAll("#scenes li").length === 2);
  assert.match(await page.textContent("#scenes li"), /balls\.yaml\s+Balls in the air\./);
  await page.fill("#sought", "AIR");
  assert.deepEqual(await page.$$eval("#scenes li button", (all) => all.map((each) => each.dataset.scene)), ["balls.yaml"]);
  assert.equal(await page.textContent("#scenes output"), "1 of 2");
  await page.click("#scenes li button");
  await shows(page, "balls", 3);
  await page.click("#scenes li button");
  await shows(page, "balls-2", 3);
  await page.fill("#sought", "");
  await page.click("#scenes li:nth-child(2) button");
  await shows(page, "arm", 1);
  await noted(page, "Its base is fixed");
  assert.equal(await page.evaluate(() => new URLSearchParams(location.hash.slice(1)).get("world")), "arm");
  assert.deepEqual(page.wrong, []);
});

test("a dropped scene is a world, a faulty one is refused with its line, and no world is lost", async (t) => {
  const page = await open(t, server);
  await dropFile(page, "my balls.yaml", BALLS.replace("n: 3", "n: 5"));
  await shows(page, "my-balls", 5);
  await dropFile(page, "arm.urdf", ARM, true);
  await noted(page, "Its base floats");
  const worlds = await page.evaluate(async () => (await cairn.link.client.list()).map(({ name }) => name));
  await dropFile(page, "bad.yaml", "bodies:\n  - { shape: none }\n");
  await page.waitForFunction(() => /bad\.yaml:2/.test(document.getElementById("trouble").textContent));
  await dropFile(page, "long.yaml", `#${"x".repeat(200000)}`);
  await page.waitForFunction(() => /long\.yaml has 200001 bytes, more than 196608/.test(document.getElementById("trouble").textContent));
  assert.deepEqual(await page.evaluate(async () => (await cairn.link.client.list()).map(({ name }) => name)), worlds);
  assert.deepEqual(page.wrong, []);
});

test("without a folder the list says how to get one; an observer has no list", async (t) => {
  const page = await open(t, plain);
  await page.click("#browse");
  await page.waitForFunction(() => document.querySelector("#scenes output").textContent.includes("--scene-folder"));
  await dropFile(page, "balls.yaml", BALLS);
  await page.waitForFunction(() => document.getElementById("trouble").textContent.includes("--scene-folder"));
  const observer = await open(t, server, "");
  assert.equal(await observer.isVisible("#browse"), false);
  await dropFile(observer, "balls.yaml", BALLS);
  await observer.waitForFunction(() => /only the roles controller and admin/.test(document.getElementById("trouble").textContent));
  assert.deepEqual([...page.wrong, ...observer.wrong], []);
});
