/**
 * A picture of every shipped scene at its first view: node test/scene_pictures.mjs OUT [panels] [WIDTHxHEIGHT], in BUILD/npm/web with
 * CAIRN_BUILDDIR and CAIRN_SRCDIR set (make scene-pictures). Writes OUT/NAME.jpg and OUT/gallery/NAME.jpg, without the panels
 * unless `panels` is given, and the page OUT/PICTURES.md that shows them; `page`: this alone.
 */
import { mkdirSync, readFileSync, readdirSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { daemon } from "../../js/test/daemon.js";
import { launch } from "./browser.js";

const [out, ...choices] = process.argv.slice(2);
const [, width, height] = choices.map((choice) => /^(\d+)x(\d+)$/.exec(choice)).find((match) => match !== null) ?? [null, 480, 300];
const SCENES = join(process.env.CAIRN_SRCDIR, "clients", "scenes");
/** The page's columns, and the most bytes of a picture: quality is lowered until it fits. */
const COLUMNS = 3, BYTES_MAX = 30000, QUALITIES = [82, 74, 66, 58, 50, 40];

const HEAD = `# Pictures of the scenes

Every scene in \`clients/scenes\` as the viewer shows it first, at tick 0, without the panels. \`make scene-pictures\` in the build
directory makes the pictures and this page. [SCENES](SCENES.md#what-is-shipped) says what each is for, [GALLERY](GALLERY.md) which
numbers those of the gallery must give.

![asteroids in an early viewer, in bright colours under a flat light, and the same scene now](images/scenes/before.jpg)

*\`meshes.yaml\` in the first viewer and now: the sky lights what the sun does not reach, colours come from scenes, edges are dark.*
`;

const namesIn = (folder) => readdirSync(folder).filter((file) => file.endsWith(".yaml")).map((file) => file.slice(0, -5)).sort();

/** The first sentence of a scene file's comment. */
function captionOf(file) {
  const lines = readFileSync(file, "utf8").split("\n"), end = lines.findIndex((line) => !line.startsWith("#"));
  const text = lines.slice(0, end).map((line) => line.replace(/^# ?/, "")).join(" ");
  return /^(.*?[^0-9 ])\.(?= |$)/.exec(text)?.[1] ?? text;
}

/** Takes the picture of the joined world into a file. */
async function take(page, file) {
  for (const quality of QUALITIES) {
    await page.screenshot({ path: file, type: "jpeg", quality, timeout: 120000 });
    if (statSync(file).size <= BYTES_MAX) return;
  }
}

async function picturesOf(browser, folder, to) {
  const names = namesIn(folder);
  if (choices.includes("page")) return names;
  mkdirSync(to, { recursive: true });
  const server = await daemon("--web", "tcp:127.0.0.1:0", "--web-files", "dist", "--paused",
    ...names.flatMap((name) => ["--scene", join(folder, `${name}.yaml`)]));
  try {
    const address = await server.logged(/listening address=(http:\S+)/);
    const page = await browser.newPage({ viewport: { width: Number(width), height: Number(height) } });
    page.setDefaultTimeout(120000);
    await page.goto(address);
    await page.waitForFunction(() => window.cairn?.moment());
    if (!choices.includes("panels")) await page.evaluate(() => document.body.classList.add("bare"));
    // On any machine, however slow.
    await page.evaluate(() => { cairn.particles.surface.choice = "surface"; });
    const worlds = await page.evaluate(async () => (await cairn.link.client.list()).map(({ name }) => name));
    if (worlds.length !== names.length) throw new Error(`${names.length} scenes are ${worlds.length} worlds: ${worlds}`);
    for (const [i, world] of worlds.entries()) {
      await page.evaluate((name) => cairn.link.join(name), world);
      await page.waitForFunction(() => cairn.moment() && cairn.framed() && cairn.crowd.complete && cairn.looks.answers > 0 &&
        cairn.playback.playhead === cairn.link.mirror.tick);
      await page.waitForTimeout(1500); // the shadow map is fitted twice a second, and water comes with a query
      await page.waitForFunction(() => cairn.stage.shade.complete);
      await take(page, join(to, `${names[i]}.jpg`));
    }
    await page.close();
  } finally {
    await server.stop();
  }
  return names;
}

function rowsOf(names, folder, prefix) {
  const cell = (name) => (name === undefined ? " " : `![${name}](images/scenes/${prefix}${name}.jpg)<br>[\`${prefix}${name}.yaml\`](../clients/scenes/${prefix}${name}.yaml): ${captionOf(join(folder, `${name}.yaml`))}`);
  const line = (cells) => `|${Array.from({ length: COLUMNS }, (_, k) => cells[k] ?? "").join("|")}|`;
  const rows = [];
  for (let i = 0; i < names.length; i += COLUMNS) rows.push(line(Array.from({ length: COLUMNS }, (_, k) => cell(names[i + k]))));
  return [line([]), line(Array(COLUMNS).fill("---")), ...rows].join("\n");
}

const browser = await launch();
try {
  const parts = [["", SCENES], ["gallery/", join(SCENES, "gallery")]];
  let page = HEAD;
  for (const [prefix, folder] of parts) {
    const names = await picturesOf(browser, folder, join(out, prefix));
    page += `\n## ${prefix === "" ? "Scenes" : "Scenes with known answers"}\n\n${rowsOf(names, folder, prefix)}\n`;
  }
  writeFileSync(join(out, "PICTURES.md"), page);
} finally {
  await browser.close();
}
