/** The page as assistive programs meet it: the rules of axe find nothing serious, at three sizes, with every panel, without WebGL. */
import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { daemon } from "../../js/test/daemon.js";
import { TOKEN, launch, withoutWebGL, writeTokens } from "./browser.js";

const SIZES = [[1280, 800], [1920, 1080], [390, 844]];
const SERIOUS = ["serious", "critical"];
const PANELS = ["physics", "bodies", "plots", "layers"];
const AXE = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
let server, browser, home, address;

before(async () => {
  home = mkdtempSync(join(tmpdir(), "cairn-axe-"));
  server = await daemon("--web", "tcp:127.0.0.1:0", "--web-files", "dist", "--tokens", writeTokens(home), "--paused", "--data",
    join(home, "data"), "--scene", `${process.env.CAIRN_SRCDIR}/clients/scenes/pyramid.yaml`);
  address = `${await server.logged(/listening address=(http:\S+)/)}#world=pyramid&token=${encodeURIComponent(TOKEN)}`;
  browser = await launch();
});
after(async () => {
  await browser?.close();
  await server?.stop();
  rmSync(home, { recursive: true, force: true });
});

/** A page with axe in it; page.wrong collects errors. */
async function open(init = () => {}) {
  const page = await browser.newPage({ viewport: { width: 640, height: 400 } });
  page.wrong = [];
  page.on("pageerror", (error) => page.wrong.push(error.message));
  page.on("console", (line) => { if (line.type() === "error") page.wrong.push(line.text()); });
  await page.addInitScript(init);
  await page.goto(address);
  await page.evaluate(AXE);
  // Axe does not look at the picture, which takes long in software.
  await page.evaluate(() => window.cairn?.stage.renderer.setPixelRatio(0.1));
  return page;
}

/** What axe finds that is serious, one line each, and how many rules it found to hold. */
async function findings(page, where) {
  const { violations, passes } = await page.evaluate(async () => axe.run({ resultTypes: ["violations"] }));
  assert.ok(passes.length > 5, `${where}: ${passes.length} rules hold`);
  return violations.filter(({ impact }) => SERIOUS.includes(impact)).map(({ id, impact, nodes }) =>
    `${where}: ${impact}: ${id}: ${nodes.map(({ html, failureSummary }) => `${html} ${failureSummary}`).slice(0, 3).join(" | ")}`);
}

test("axe finds nothing serious on the page, nor in any of its panels, at three sizes, light and dark", async () => {
  const page = await open(), found = [];
  await page.evaluate(() => { document.getElementById("shadows").click(); }); // which take long in software
  await page.waitForFunction(() => window.cairn?.moment() && cairn.framed() && cairn.link.mirror.count > 1);
  for (const [i, [width, height]] of SIZES.entries()) {
    await page.setViewportSize({ width, height });
    await page.emulateMedia({ colorScheme: i === 1 ? "light" : "dark" });
    await page.evaluate(() => cairn.choose([...cairn.link.mirror.slots.keys()].at(-1)));
    found.push(...await findings(page, `${width} inspector`));
    for (const name of PANELS) {
      await page.evaluate((panel) => cairn[panel].toggle(true), name);
      if (name === "physics") await page.waitForFunction(() => cairn.physics.shown !== null);
      found.push(...await findings(page, `${width} ${name}`));
      await page.evaluate((panel) => cairn[panel].toggle(false), name);
    }
    await page.evaluate(() => {
      cairn.choose(0);
      cairn.timeline.toggle();
    });
    found.push(...await findings(page, `${width} timeline`));
    await page.evaluate(() => {
      cairn.timeline.toggle();
      document.getElementById("show-keys").click();
    });
    found.push(...await findings(page, `${width} keys`));
    await page.keyboard.press("Escape");
  }
  assert.deepEqual(found, []);
  assert.deepEqual(page.wrong, []);
  await page.close();
});

test("axe finds nothing serious on the page that WebGL is missing from", async () => {
  const page = await open(withoutWebGL), found = [];
  await page.waitForSelector("#unavailable:not([hidden])");
  for (const [width, height] of SIZES) {
    await page.setViewportSize({ width, height });
    assert.equal(await page.isVisible("#unavailable"), true);
    found.push(...await findings(page, `${width} without WebGL`));
  }
  assert.deepEqual(found, []);
  await page.close();
});
