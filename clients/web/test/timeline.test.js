/** The viewer's timeline in headless Chromium, on a running world with a file. */
import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { daemon } from "../../js/test/daemon.js";
import { TOKEN, launch, writeTokens } from "./browser.js";

let server, plain, browser, home;
before(async () => {
  home = mkdtempSync(join(tmpdir(), "cairn-timeline-"));
  const scene = ["--scene", `${process.env.CAIRN_SRCDIR}/clients/scenes/tower.yaml`];
  const web = ["--web", "tcp:127.0.0.1:0", "--web-files", "dist", "--tokens", writeTokens(home), ...scene];
  server = await daemon("--data", join(home, "data"), ...web);
  plain = await daemon(...web);
  browser = await launch();
});
after(async () => {
  await browser?.close();
  await server?.stop();
  await plain?.stop();
  rmSync(home, { recursive: true, force: true });
});

/** A page of the test `t`, which ends with it: a page left open would slow the tests after one that failed. */
async function open(t, at, hash = "") {
  const page = await browser.newPage({ viewport: { width: 1200, height: 720 } });
  t.after(() => page.close());
  page.setDefaultTimeout(60000);
  page.wrong = [];
  page.on("pageerror", (error) => page.wrong.push(error.message));
  await page.goto(await at.logged(/listening address=(http:\S+)/) + hash);
  await page.evaluate(() => { document.getElementById("shadows").click(); });
  await page.waitForFunction(() => window.cairn?.moment() && cairn.link.mirror?.count > 1);
  return page;
}

/** Sets the slider as a user's hand does. */
const scrub = (page, tick) => page.evaluate((to) => {
  const slider = document.getElementById("moment");
  slider.value = to;
  slider.dispatchEvent(new Event("input"));
}, tick);

test("an observer scrubs, plays backward and forward, and returns to the present", async (t) => {
  const page = await open(t, server);
  await page.waitForFunction(() => cairn.link.mirror.tick > 100);
  await page.click("#past");
  await page.waitForFunction(() => document.querySelectorAll("#marks i").length > 0);
  for (const tick of [30, 90, 12, 60]) await scrub(page, tick);
  await page.waitForFunction(() => cairn.link.mirror.tick === 60 && cairn.timeline.where?.tick === 60);
  const before = await page.evaluate(() => cairn.link.mirror.body([...cairn.link.mirror.slots.keys()].at(-1)));
  // The world runs on meanwhile.
  await page.waitForFunction(() => document.getElementById("where").textContent.includes("s ago"));
  await page.selectOption("#past-speed", "0.1");
  await page.click("#backward");
  await page.waitForFunction(() => cairn.link.mirror.tick < 58);
  await page.click("#halt");
  await page.waitForFunction(() => cairn.timeline.where.speed === 0);
  const stood = await page.evaluate(() => cairn.link.mirror.tick);
  await page.waitForTimeout(300);
  assert.equal(await page.evaluate(() => cairn.link.mirror.tick), stood);
  await page.click("#later");
  await page.waitForFunction((tick) => cairn.link.mirror.tick === tick + 1, stood);
  await page.click("#forward");
  await page.waitForFunction(() => cairn.link.mirror.tick > 60);
  await scrub(page, 60);
  await page.waitForFunction(() => cairn.link.mirror.tick === 60);
  const again = await page.evaluate(() => cairn.link.mirror.body([...cairn.link.mirror.slots.keys()].at(-1)));
  assert.deepEqual(again, before);
  assert.equal(await page.isVisible("#restart"), false);
  await page.click("#live");
  await page.waitForFunction(() => cairn.timeline.where === null && cairn.link.mirror.tick > 150);
  assert.deepEqual(page.wrong, []);
});

test("a controller restarts the world, and continues it from a tick", async (t) => {
  const page = await open(t, server, `#world=tower&token=${encodeURIComponent(TOKEN)}`);
  await page.waitForFunction(() => cairn.link.mirror.tick > 60);
  await page.click("#past");
  await page.click("#restart");
  await page.waitForFunction(() => cairn.link.mirror.epoch === 2 && cairn.link.mirror.tick > 100);
  await scrub(page, 50);
  await page.waitForFunction(() => cairn.link.mirror.tick === 50 && cairn.timeline.where?.epoch === 2);
  await page.click("#resume-here");
  await page.waitForFunction(() => cairn.timeline.where === null && cairn.link.mirror.epoch === 3 && cairn.link.mirror.tick >= 50);
  assert.deepEqual(page.wrong, []);
});

test("a recording is opened in the timeline, in each of its epochs, and left again", async (t) => {
  const page = await open(t, server, `#world=tower&token=${encodeURIComponent(TOKEN)}`);
  const made = await page.evaluate(() => cairn.link.world.saveRecording("fall"));
  await page.click("#past");
  await page.waitForFunction(() => document.getElementById("source").options.length === 2);
  await page.selectOption("#source", "fall");
  const shows = ({ epoch, tick }) => cairn.timeline.where?.epoch === epoch && cairn.link.mirror.tick === tick;
  await page.waitForFunction(shows, made.first);
  // The world was restarted and continued from a tick, so the recording's end is in a later epoch.
  assert.ok(made.last.epoch > made.first.epoch);
  await page.selectOption("#past-epoch", String(made.last.epoch));
  await page.waitForFunction((last) => cairn.timeline.where?.epoch === last.epoch, made.last);
  await scrub(page, made.last.tick);
  await page.waitForFunction(shows, made.last);
  assert.equal(await page.isDisabled("#resume-here"), true);
  await page.click("#live");
  await page.waitForFunction(() => cairn.timeline.where === null && document.getElementById("source").value === "");
  assert.deepEqual(page.wrong, []);
});

test("a world without a file says why it has no past", async (t) => {
  const page = await open(t, plain);
  await page.click("#past");
  await page.waitForFunction(() => document.getElementById("timeline-why").textContent.includes("--data"));
  assert.deepEqual(page.wrong, []);
});
