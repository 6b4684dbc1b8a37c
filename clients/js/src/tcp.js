/** Streams of Node: tcp:HOST:PORT and unix:PATH. Not for browsers. */
import { execFile } from "node:child_process";
import { webcrypto } from "node:crypto";
import net from "node:net";
import path from "node:path";
import { promisify } from "node:util";
import { Client } from "./client.js";
import { Closed, Splitter, frame } from "./wire.js";

// Node 18 has Web Crypto, but not as the global `crypto`.
globalThis.crypto ??= webcrypto;

/**
 * Connects and calls `events.content(bytes)` for each frame and `events.closed(error)` once at the end.
 * @returns {Promise<{send: (content: Uint8Array) => void, close: () => void}>}
 */
export function openTcp(address, events) {
  return new Promise((resolve, reject) => {
    const socket = net.connect(target(address));
    const splitter = new Splitter();
    let error = new Closed("the connection has ended");
    socket.setNoDelay(true);
    socket.once("connect", () => resolve({
      send: (content) => socket.write(frame(content)),
      close: () => socket.end(),
    }));
    socket.on("data", (piece) => {
      try {
        for (const content of splitter.take(piece)) events.content(content);
      } catch (wrong) {
        error = wrong;
        socket.destroy();
      }
    });
    socket.on("error", (wrong) => { error = new Closed(wrong.message, "io"); });
    socket.once("close", () => {
      reject(error);
      events.closed(error);
    });
  });
}

function target(address) {
  if (address.startsWith("unix:")) return { path: address.slice(5) };
  const match = /^(?:tcp:)?(?:\[([^\]]+)\]|([^:]+)):(\d+)$/.exec(address);
  if (match === null) throw new TypeError(`"${address}" is neither tcp:HOST:PORT nor unix:PATH`);
  return { host: match[1] ?? match[2], port: Number(match[3]) };
}

/** Opens a session over tcp: or unix:. Options as of Client.over. */
export function connect(address, options) {
  return Client.over(openTcp, address, options);
}

/**
 * Sends a scene file to a world `name` (default: the file's name without its ending), which is made if it does not exist, and
 * joins it. The program `cairn` reads the file: $CAIRN, or found on the PATH. `token`: a bearer token for it, if the server
 * wants one. `variables`: other values of the scene's variables, { name: number or formula }.
 * @returns {Promise<World>}
 * @throws {Error} with the program's text
 */
export async function load(client, scene, name = path.parse(scene).name, { token, variables = {} } = {}) {
  const program = process.env.CAIRN ?? "cairn";
  const env = token === undefined ? process.env : { ...process.env, CAIRN_TOKEN: token };
  const lets = Object.entries(variables).flatMap(([variable, value]) => ["--let", `${variable}=${value}`]);
  try {
    await promisify(execFile)(program, ["--connect", client.address, "load", name, scene, ...lets], { env });
  } catch (error) {
    throw new Error(`cairn load ${scene}: ${(error.stderr || error.message).trim()}`, { cause: error });
  }
  return client.join(name);
}
