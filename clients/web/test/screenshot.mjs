/**
 * Takes the pictures that README shows: node test/screenshot.mjs OUT.png SCENE WORLD SECONDS [CONTACTS], in
 * BUILD/npm/web with CAIRN_BUILDDIR and CAIRN_SRCDIR set.
 */
import { chromium } from "playwright-core";
import { daemon } from "../../js/test/daemon.js";

const [out, scene, world, seconds, contacts] = process.argv.slice(2);
const server = await daemon("--web", "tcp:127.0.0.1:0", "--web-files", "dist", "--scene",
  `${process.env.CAIRN_SRCDIR}/clients/scenes/${scene}.yaml`);
const address = await server.said(/listening address=(http:\S+)/);
const browser = await chromium.launch({
  executablePath: "/usr/bin/chromium",
  args: ["--no-sandbox", "--use-angle=swiftshader", "--enable-unsafe-swiftshader"],
});
try {
  const page = await browser.newPage({ viewport: { width: 1280, height: 720 } });
  await page.goto(`${address}#world=${world}`);
  await page.waitForFunction(() => window.cairn?.moment());
  if (contacts) await page.click("#contacts");
  await page.waitForTimeout(Number(seconds) * 1000);
  await page.evaluate(() => {
    const { mirror } = cairn.link;
    cairn.choose([...mirror.slots.keys()].find((id) => mirror.body(id).status === "dynamic"));
  });
  await page.waitForTimeout(2500);
  await page.screenshot({ path: out });
} finally {
  await browser.close();
  await server.stop();
}
