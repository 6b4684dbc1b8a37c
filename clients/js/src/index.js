/**
 * cairn-client: a session with cairnd from a browser or from Node.
 *
 *     import { connect } from "cairn-client";
 *     const client = await connect("ws://127.0.0.1:7412/ws");
 *     const world = await client.join("tower");
 *     await world.subscribe({ onFrame: (mirror) => console.log(mirror.tick, mirror.count) });
 *
 * In Node, tcp:HOST:PORT and unix:PATH work as well: import { connect } from "cairn-client/tcp".
 */
import { Client } from "./client.js";
import { openWebSocket } from "./websocket.js";

export * as areas from "./areas.js";
export { ACTION, ALL_EVENTS, Client, EVENTS, MODES, World, command } from "./client.js";
export { COLUMNS } from "./columns.js";
export { observe } from "./group.js";
export { isRight, jointsHash, particlesHash, tickHash, viewHash } from "./hash.js";
export {
  ALL_JOINTS, JOINT_MODES, JOINT_MOTORS, JOINT_SPRINGS, JOINT_TYPES, JOINT_WAVES, Joints,
} from "./joints.js";
export { COLUMN, COMMAND, JOINT_COLUMN, PARTICLE_COLUMN, STATUS } from "./manifest.js";
export { ALL, FLAG, Mirror, PROFILE, STATUSES } from "./mirror.js";
export { BadNumber } from "./numbers.js";
export { ALL_PARTICLES, Particles } from "./particles.js";
export * as shapes from "./shapes.js";
export { Closed, Refused, decode, encode } from "./wire.js";

/** Opens a session over ws: or wss:. Options as of Client.over: role, token, name, resumes, reconnects, onClosed, onBack. */
export function connect(address, options) {
  return Client.over(openWebSocket, address, options);
}
