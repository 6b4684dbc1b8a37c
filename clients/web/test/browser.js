/** What every test of the page needs: a browser, and a token that the daemon knows. */
import { createHash } from "node:crypto";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { chromium } from "playwright-core";

/** A token with the role controller, of a daemon that has the file of writeTokens(). */
export const TOKEN = "a token for this test";

/** Writes the file of tokens into a folder. @returns its path */
export function writeTokens(folder) {
  const file = join(folder, "tokens"), hash = createHash("sha256").update(TOKEN).digest("hex");
  writeFileSync(file, `bearer tester controller ${hash}\n`, { mode: 0o600 });
  return file;
}

/** Milliseconds after which a test gives up waiting for its page, far above what a starved machine takes. */
const LIMIT = 180000;

/** Starts headless Chromium, which draws in software. */
export async function launch() {
  const browser = await chromium.launch({
    executablePath: "/usr/bin/chromium",
    args: ["--no-sandbox", "--use-angle=swiftshader", "--enable-unsafe-swiftshader"],
    timeout: LIMIT,
  });
  const newContext = browser.newContext.bind(browser); // which newPage() calls, too
  browser.newContext = async (...options) => {
    const context = await newContext(...options);
    context.setDefaultTimeout(LIMIT);
    return context;
  };
  return browser;
}

/** A script of the page in a browser without WebGL, to be run before the page's own. */
export function withoutWebGL() {
  const { getContext } = HTMLCanvasElement.prototype;
  HTMLCanvasElement.prototype.getContext = function get(kind, ...more) {
    return kind.startsWith("webgl") ? null : getContext.call(this, kind, ...more);
  };
}
