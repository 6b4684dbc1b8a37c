/** The page that plays by itself: taken of the present and of the past, saved, and opened from the disk without any server. */
import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { pathToFileURL } from "node:url";
import { daemon } from "../../js/test/daemon.js";
import { TOKEN, launch, writeTokens } from "./browser.js";

const VIEWPORT = { width: 480, height: 320 };
/** Places of profile view are whole steps of this length, m. */
const STEP = 1 / 512;
let server, browser, home, page;

before(async () => {
  home = mkdtempSync(join(tmpdir(), "cairn-film-"));
  server = await daemon("--web", "tcp:127.0.0.1:0", "--web-files", "dist", "--tokens", writeTokens(home), "--paused", "--data",
    join(home, "data"), "--scene", `${process.env.CAIRN_SRCDIR}/clients/scenes/tower.yaml`);
  const address = await server.logged(/listening address=(http:\S+)/);
  browser = await launch();
  page = await browser.newPage({ viewport: VIEWPORT });
  page.wrong = [];
  page.on("pageerror", (error) => page.wrong.push(error.message));
  await page.goto(`${address}#world=tower&token=${encodeURIComponent(TOKEN)}`);
  await page.evaluate(() => { document.getElementById("shadows").click(); }); // which take long in software
  await page.waitForFunction(() => window.cairn?.moment() && cairn.framed() && cairn.looks.answers > 0);
});
after(async () => {
  await browser?.close();
  await server?.stop();
  rmSync(home, { recursive: true, force: true });
});

/** Bodies' places by id as the page has them. */
const places = (of, mirror) => of.evaluate((path) => {
  const found = path.split(".").reduce((at, key) => at[key], window);
  return [...found.slots].map(([id, slot]) => [id, ...found.position.slice(slot * 3, slot * 3 + 3)]);
}, mirror);

function near(a, b, most, what) {
  const others = new Map(b.map(([id, ...at]) => [id, at]));
  assert.equal(a.length, b.length, what);
  const worst = Math.max(...a.map(([id, ...at]) => Math.max(...at.map((v, i) => Math.abs(v - others.get(id)[i])))));
  assert.ok(worst <= most, `${what}: ${worst} m`);
}

/** Saves the download, and opens it from the disk in a browser that reaches no network. */
async function play(download) {
  const file = join(home, download.suggestedFilename());
  await download.saveAs(file);
  const context = await browser.newContext({ viewport: VIEWPORT, offline: true }), film = await context.newPage();
  film.wrong = [];
  film.asked = [];
  film.on("pageerror", (error) => film.wrong.push(error.message));
  film.on("console", (line) => { if (line.type() === "error") film.wrong.push(line.text()); });
  film.on("request", (request) => { if (!request.url().startsWith("data:")) film.asked.push(request.url()); });
  await film.goto(pathToFileURL(file).href);
  await film.waitForFunction(() => window.player?.drawn !== undefined);
  return { film, file };
}

test("a page of the present plays from the disk: bodies, colours, times, forward and backward", async () => {
  const first = await places(page, "cairn.link.mirror");
  await page.click("#film");
  await page.waitForFunction(() => cairn.film.frames > 0);
  await page.evaluate(async () => { for (let i = 0; i < 60; i++) await cairn.link.world.step(1); });
  await page.waitForFunction(() => cairn.link.mirror.tick === 60 && cairn.film.frames >= 60);
  const last = await places(page, "cairn.link.mirror");
  const [download] = await Promise.all([page.waitForEvent("download"), page.click("#film")]);
  assert.match(await page.textContent("#note"), /^tower-0\.html: \d+ frames, .* MB; it leaves out contacts/);
  const { film, file } = await play(download);
  assert.ok(readFileSync(file).length < 2e6);
  await film.evaluate(() => {
    player.play(false);
    player.seek(player.length);
  });
  assert.equal(await film.evaluate(() => player.tick), 60);
  assert.ok(Math.abs(await film.evaluate(() => player.length) - 1) < 0.05, "sixty ticks at 60 Hz");
  near(await places(film, "player.mirror"), last, STEP, "the last tick");
  await film.evaluate(() => player.seek(0));
  near(await places(film, "player.mirror"), first, STEP, "the first tick");
  const [given, shown] = [await page.evaluate(() => cairn.crowd.colourGiven(5)), await film.evaluate(() => player.crowd.colourGiven(5))];
  assert.ok(given > 0 && given === shown, `${given} and ${shown}`);
  // It plays by itself, to its end, and says where it is.
  await film.keyboard.press(" ");
  await film.waitForFunction(() => player.tick === 60 && !player.playing);
  await film.waitForFunction(() => /1\.0 of 1\.0 s, tick 60, 194 bodies/.test(document.getElementById("where").textContent));
  await film.evaluate(readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8"));
  const { violations } = await film.evaluate(() => axe.run({ resultTypes: ["violations"] }));
  assert.deepEqual(violations.filter(({ impact }) => ["serious", "critical"].includes(impact)).map(({ id }) => id), []);
  assert.deepEqual(film.wrong, []);
  assert.equal(film.asked.length, 1, film.asked.join());
  await film.context().close();
});

test("a page of the past begins at the tick shown and ends by itself where the past ends", async () => {
  await page.evaluate(() => {
    cairn.timeline.toggle();
    cairn.timeline.seek(20, 0);
  });
  await page.waitForFunction(() => cairn.timeline.where?.tick === 20 && cairn.link.mirror.tick === 20);
  const then = await places(page, "cairn.link.mirror");
  const [download] = await Promise.all([page.waitForEvent("download"), page.click("#film")]);
  const { film } = await play(download);
  await film.evaluate(() => {
    player.play(false);
    player.seek(0);
  });
  assert.equal(await film.evaluate(() => player.tick), 20);
  near(await places(film, "player.mirror"), then, STEP, "the tick shown");
  await film.evaluate(() => player.seek(player.length));
  assert.equal(await film.evaluate(() => player.tick), 60);
  assert.deepEqual([...page.wrong, ...film.wrong], []);
});
