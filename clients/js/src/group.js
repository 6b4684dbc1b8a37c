/** Many worlds stepped by one message. */
import { COLUMN, OBSERVATION } from "./manifest.js";
import { Refused } from "./wire.js";

/** Parts of an observation; each function gives one. Numbers come in the order of the parts and of their items. */
export const observe = {
  /** Columns of bodies: position, rotation, velocity, spin, status (2 numbers), always in this order. */
  bodies: (ids, columns = ["position", "rotation", "velocity", "spin"]) =>
    [OBSERVATION.bodies, ids, columns.reduce((mask, name) => {
      if (COLUMN[name] === undefined) throw new TypeError(`there is no column ${name}`);
      return mask | COLUMN[name];
    }, 0)],
  /** Of each ray {origin, direction, length, body?, ignore?} the distance (m) and the body that it hits (0: none). */
  rays: (...rays) => [OBSERVATION.rays, rays.map(({ origin, direction, length, body = 0, category = 0xffffffff, mask = 0xffffffff,
    ignore = 0 }) => [origin, direction, length, body, category, mask, ignore])],
  /** Of each [body, other], other 0 for any: points, normal impulse (N s), impulse x y z on the body. */
  contacts: (pairs) => [OBSERVATION.contacts, pairs],
  /** Of each joint 6 coordinates, force x y z, torque x y z. */
  joints: (ids) => [OBSERVATION.joints, ids],
  /** Kinetic and potential energy, momentum, angular momentum: 8 numbers. */
  totals: () => [OBSERVATION.totals, []],
};

/** Float64 numbers of bytes at any alignment; on the wire they are little-endian. */
function numbersOf(bytes) {
  const numbers = new Float64Array(bytes.length / 8), view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  for (let i = 0; i < numbers.length; i++) numbers[i] = view.getFloat64(8 * i, true);
  return numbers;
}

function bytesOf(numbers) {
  const view = new DataView(new ArrayBuffer(8 * numbers.length));
  numbers.forEach((number, i) => view.setFloat64(8 * i, number, true));
  return new Uint8Array(view.buffer);
}

/** See Client.stepWorlds. */
export async function stepWorlds(client, worlds, { actions = [], values = [], observe: parts = [], ticks = 1, steps = 1,
  commands = [], hashes = false, anyway = false } = {}) {
  const entries = worlds.map((world, i) => [world.number, world.nextStep(), ...(commands[i] ? [commands[i]] : [])]);
  const answer = await client.request("step_worlds", { worlds: entries, n: ticks, steps, actions, values: bytesOf(values),
    observe: parts, batch: 0, hash: Number(hashes), anyway: Number(anyway) }, "stepped_worlds");
  const outcomes = answer.worlds.map(([, , code, epoch, tick, edit, made, tickHash, hash, ids, index, field, text], i) => {
    if (epoch > 0) Object.assign(worlds[i], { epoch, tick });
    return { world: worlds[i], epoch, tick, edit, steps: made, tickHash: tickHash?.slice() ?? null, hash: hash?.slice() ?? null,
      values: ids, error: code === 0 ? null : new Refused(code, text, field, index) };
  });
  return { worlds: outcomes, width: answer.width, observations: numbersOf(answer.data ?? new Uint8Array()) };
}
