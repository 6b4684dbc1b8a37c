/** Starts a private cairnd for a test, on a Unix socket in a temporary directory that stop() removes. */
import { spawn } from "node:child_process";
import net from "node:net";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

/** Whether a connection to the socket succeeds. The socket's file exists a moment before the daemon listens. */
function listens(path) {
  return new Promise((resolve) => {
    const probe = net.connect({ path }, () => { probe.destroy(); resolve(true); });
    probe.once("error", () => resolve(false));
  });
}

/** Seconds after which a test gives up, far above what a starved machine takes. */
const LIMIT = 120;

/** Waits until check() is true. @throws after LIMIT, with what was waited for: a text, or a function that returns one then */
export async function until(check, what) {
  const end = performance.now() + LIMIT * 1000;
  while (!(await check())) {
    if (performance.now() > end) throw new Error(`not within ${LIMIT} s: ${typeof what === "function" ? what() : what}`);
    await sleep(5);
  }
}

export async function daemon(...options) {
  const home = mkdtempSync(join(tmpdir(), "cairn-js-"));
  const socket = join(home, "s");
  const program = join(process.env.CAIRN_BUILDDIR, "cairnd");
  const child = spawn(program, ["--unix", socket, ...options], { stdio: ["ignore", "ignore", "pipe"] });
  let log = "";
  child.stderr.on("data", (piece) => { log += piece; });
  const gone = new Promise((resolve) => child.once("exit", resolve));
  await until(() => child.exitCode !== null || listens(socket), () => `cairnd listens: ${log}`);
  if (child.exitCode !== null) throw new Error(`cairnd did not start: ${log}`);
  return {
    address: `unix:${socket}`,
    /** Waits until the log matches a pattern; returns its first group. */
    async logged(pattern) {
      await until(() => pattern.test(log), () => `${pattern} in the log of cairnd: ${log}`);
      return pattern.exec(log)[1];
    },
    async stop() {
      child.kill("SIGTERM");
      const code = await gone;
      rmSync(home, { recursive: true, force: true });
      if (code !== 0) throw new Error(`cairnd ended with ${code}: ${log}`);
    },
  };
}

/**
 * A relay on loopback in front of a daemon: cut() closes all its connections without a GOODBYE, refuse(true) refuses new ones.
 * `to`: unix:PATH or {host, port}; the method to(it) changes it.
 */
export async function relay(to) {
  const pairs = new Set();
  let refusing = false;
  const server = net.createServer((near) => {
    const far = net.connect(typeof to === "string" ? { path: to.slice("unix:".length) } : to);
    const pair = [near, far];
    if (refusing) pair.forEach((socket) => socket.destroy());
    pairs.add(pair);
    for (const [from, into] of [pair, [far, near]]) {
      from.on("data", (piece) => into.write(piece));
      from.on("error", () => {});
      from.on("close", () => {
        into.destroy();
        pairs.delete(pair);
      });
    }
  });
  await new Promise((resolve) => { server.listen(0, "127.0.0.1", resolve); });
  const { port } = server.address();
  const cut = () => { for (const pair of pairs) pair.forEach((socket) => socket.destroy()); };
  return {
    port,
    address: `tcp:127.0.0.1:${port}`,
    connections: () => pairs.size,
    cut,
    to: (it) => { to = it; },
    refuse: (yes) => { refusing = yes; },
    close: () => {
      cut();
      server.close();
    },
  };
}
