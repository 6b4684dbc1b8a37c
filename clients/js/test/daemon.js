/** A cairnd of its own for a test, on a Unix socket in a directory that is taken away. */
import { spawn } from "node:child_process";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

export async function daemon(...options) {
  const home = mkdtempSync(join(tmpdir(), "cairn-js-"));
  const socket = join(home, "s");
  const program = join(process.env.CAIRN_BUILDDIR, "cairnd");
  const child = spawn(program, ["--unix", socket, ...options], { stdio: ["ignore", "ignore", "pipe"] });
  let log = "";
  child.stderr.on("data", (piece) => { log += piece; });
  const gone = new Promise((resolve) => child.once("exit", resolve));
  for (let tries = 0; !existsSync(socket); tries++) {
    if (tries > 400 || child.exitCode !== null) throw new Error(`cairnd did not come up: ${log}`);
    await sleep(25);
  }
  return {
    address: `unix:${socket}`,
    /** Waits until the log matches; the first group. */
    async said(pattern) {
      for (let tries = 0; tries < 400; tries++) {
        const match = pattern.exec(log);
        if (match !== null) return match[1];
        await sleep(25);
      }
      throw new Error(`cairnd did not say ${pattern}: ${log}`);
    },
    async stop() {
      child.kill("SIGTERM");
      const code = await gone;
      rmSync(home, { recursive: true, force: true });
      if (code !== 0) throw new Error(`cairnd ended with ${code}: ${log}`);
    },
  };
}
