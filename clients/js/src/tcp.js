/** Streams of Node: tcp:HOST:PORT and unix:PATH. Not for browsers. */
import { webcrypto } from "node:crypto";
import net from "node:net";
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
