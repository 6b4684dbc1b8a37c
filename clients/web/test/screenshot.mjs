/**
 * Makes the pictures of the README: node test/screenshot.mjs OUT.png|OUT.jpg SCENE SECONDS [CHOICE…], in BUILD/npm/web with
 * CAIRN_BUILDDIR and CAIRN_SRCDIR set. SCENE is a name in clients/scenes (`tower`, `robots/quadruped.xml`). Choices: `contacts` of all bodies; `joints`; `fields`; `stability`, with a tilt's margins, as a
 * controller, of a world that is not started, `lowest` with where it ends; `carriers`, the layer; `body` chooses the topmost dynamic body, `body=N` body N;
 * `physics` opens the panel of methods and parameters, as a controller; `near=0.7` multiplies the camera's distance; `fit` frames what there is by then; `front` looks
 * along −z; `surface` draws fluids as a surface on any machine, `shade=pressure` colours them; `bare` hides the panels; `ticks=N` shows the world after N ticks, on a machine of any speed; WIDTHxHEIGHT.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, parse } from "node:path";
import { daemon } from "../../js/test/daemon.js";
import { TOKEN, launch, writeTokens } from "./browser.js";

const [out, scene, seconds, ...choices] = process.argv.slice(2);
const file = parse(scene).ext === "" ? `${scene}.yaml` : scene, world = parse(scene).name;
const size = choices.map((choice) => /^(\d+)x(\d+)$/.exec(choice)).find((match) => match !== null);
const near = Number(choices.find((choice) => choice.startsWith("near="))?.slice(5) ?? 1);
const ticks = Number(choices.find((choice) => choice.startsWith("ticks="))?.slice(6) ?? 0);
const physics = choices.includes("physics"), stability = choices.includes("stability"), paused = ticks > 0 || stability;
const home = mkdtempSync(join(tmpdir(), "cairn-picture-"));
const server = await daemon("--tokens", writeTokens(home), "--web", "tcp:127.0.0.1:0", "--web-files", "dist", "--scene",
  `${world}=${process.env.CAIRN_SRCDIR}/clients/scenes/${file}`, ...(paused ? ["--paused"] : []));
const address = await server.logged(/listening address=(http:\S+)/);
const browser = await launch();
try {
  const page = await browser.newPage({ viewport: { width: Number(size?.[1] ?? 1280), height: Number(size?.[2] ?? 720) } });
  page.setDefaultTimeout(120000);
  await page.goto(`${address}#world=${world}${physics || paused ? `&token=${encodeURIComponent(TOKEN)}` : ""}`);
  await page.waitForFunction(() => window.cairn?.moment() && cairn.crowd.complete);
  if (ticks > 0) await page.evaluate((n) => cairn.link.world.step(n), ticks);
  await page.waitForTimeout(Number(seconds) * 1000);
  const shade = choices.find((choice) => choice.startsWith("shade="));
  if (shade !== undefined) await page.selectOption("#shade", shade.slice(6));
  if (choices.includes("surface")) await page.evaluate(() => { cairn.particles.surface.choice = "surface"; });
  const body = choices.find((choice) => /^body(=\d+)?$/.test(choice));
  await page.evaluate(([contacts, joints, fields, chosen, share, panel, front, fit]) => {
    const { camera, controls } = cairn.stage, { mirror } = cairn.link;
    if (panel) document.getElementById("method").click();
    if (fit) document.getElementById("reset").click();
    if (contacts) document.getElementById("contacts").click();
    if (joints) document.getElementById("joints").click();
    if (fields) document.getElementById("fields").click();
    camera.position.sub(controls.target).multiplyScalar(share);
    if (front) camera.position.set(0, 0, camera.position.length());
    camera.position.add(controls.target);
    if (chosen > 0) cairn.choose(chosen);
    if (chosen !== 0) return;
    const height = (id) => mirror.position[mirror.slots.get(id) * 3 + 1];
    cairn.choose([...mirror.slots.keys()].filter((id) => mirror.body(id).status === "dynamic")
      .reduce((top, id) => (height(id) > height(top) ? id : top)));
  }, [...["contacts", "joints", "fields"].map((choice) => choices.includes(choice)), body === undefined ? null : Number(body.slice(5)), near,
    physics, choices.includes("front"), choices.includes("fit")]);
  if (stability) {
    await page.evaluate(() => document.getElementById("layer").click());
    await page.check("[name=stability]");
    if (choices.includes("lowest")) await page.check("#lowest");
    await page.selectOption("#margin", "tilt");
    await page.waitForFunction(() => cairn.stability.shown?.kind === "tilt" && !cairn.stability.waiting);
  }
  if (choices.includes("carriers")) {
    await page.evaluate(() => document.getElementById("layer").click());
    await page.check("[name=carriers]");
  }
  await page.waitForTimeout(4000);
  if (paused) await page.waitForFunction(() => cairn.stage.shade.complete);
  if (choices.includes("bare")) await page.evaluate(() => document.body.classList.add("bare"));
  await page.screenshot({ path: out, timeout: 120000, ...(out.endsWith(".jpg") ? { type: "jpeg", quality: 80 } : {}) });
} finally {
  await browser.close();
  await server.stop();
  rmSync(home, { recursive: true, force: true });
}
