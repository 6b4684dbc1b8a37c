/**
 * A game's backend: makes the arena, and gives a player who asks a token for it. Players then talk to cairnd alone.
 *
 *     node backend.mjs ADDRESS TOKENS PORT      (a controller's connection, the tokens file, the port of POST /join)
 */
import { createHmac, randomBytes } from "node:crypto";
import { readFileSync } from "node:fs";
import http from "node:http";
import { Refused, shapes } from "cairn-client";
import { connect } from "cairn-client/tcp";

const [address, tokens, port] = process.argv.slice(2);
const [, id, secret] = /^key\s+(\d+)\s+([0-9a-f]+)/m.exec(readFileSync(tokens, "utf8"));

/** A token for one HELLO within a minute, as docs/PROTOCOL.md describes it: a player, in this world only. */
function connectToken(world) {
  const head = Buffer.alloc(14);
  head.writeUInt8(1, 0);
  head.writeUInt8(2, 1); // player
  head.writeUInt32BE(Number(id), 2);
  head.writeBigUInt64BE(BigInt(Math.floor(Date.now() / 1000) + 60), 6);
  const body = Buffer.concat([head, randomBytes(16), Buffer.from([1, world.length]), Buffer.from(world)]);
  const mac = createHmac("sha256", Buffer.from(secret, "hex")).update(body).digest();
  return `c1.${Buffer.concat([body, mac]).toString("base64url")}`;
}

/** The arena with its ground, or the one that is there already. */
async function arena(client) {
  try {
    const world = await client.create("arena", { rate: 60 });
    await world.spawn({ status: "static", shapes: [[await world.shape(shapes.plane([0, 1, 0]))]] });
    return world;
  } catch (error) {
    if (!(error instanceof Refused) || error.status !== "exists") throw error;
    return client.join("arena");
  }
}

const client = await connect(address, { role: "controller", reconnects: true });
const world = await arena(client);
const ball = await world.shape(shapes.sphere(0.5));
await world.control("resume");
let players = 0;

const server = http.createServer((request, response) => {
  if (request.method !== "POST" || request.url !== "/join") {
    response.writeHead(404).end();
    return;
  }
  // A real backend first asks who this is.
  const place = { world: "arena", ball, position: [4 * (players++ % 8), 2, 0] };
  response.setHeader("content-type", "application/json");
  response.end(JSON.stringify({ token: connectToken("arena"), ...place }));
});
server.listen(Number(port), "127.0.0.1", () => console.log(`backend on ${server.address().port}`));
process.once("SIGTERM", () => {
  server.close();
  client.close();
});
