/** The fragment of the page's address: which world, seen from where, at which tick. It never goes to the server. */

const rounded = (value) => Number(value.toPrecision(5));

/** The camera and the tick that options name: {camera: [x, y, z], target: [x, y, z], tick, epoch}; null for what they do not. */
export function viewOf(options) {
  const numbers = (options.get("camera") ?? "").split(",").map(Number);
  const known = options.get("camera") !== null && numbers.length === 6 && numbers.every(Number.isFinite);
  const natural = (name) => (/^\d+$/.test(options.get(name) ?? "") ? Number(options.get(name)) : null);
  const [camera, target] = known ? [numbers.slice(0, 3), numbers.slice(3)] : [null, null];
  return { camera, target, tick: natural("tick"), epoch: natural("epoch") };
}

/** Writes the world's name into the address, and takes a view that was another world's out of it. */
export function showWorld(name, keepView) {
  const options = new URLSearchParams(location.hash.slice(1));
  options.set("world", name);
  if (!keepView) for (const key of ["camera", "tick", "epoch"]) options.delete(key);
  history.replaceState(null, "", `#${options}`);
}

/** Takes the token out of the options and of the address. */
export function dropToken(options) {
  const shown = new URLSearchParams(location.hash.slice(1));
  for (const each of [options, shown]) each.delete("token");
  history.replaceState(null, "", `#${shown}`);
}

/** The address of what is on the screen. It has no token: whoever gets it may watch, and command only with an own one. */
export function linkTo({ name, camera, target, tick, epoch }) {
  const options = new URLSearchParams({ world: name, camera: [...camera, ...target].map(rounded).join(), tick, epoch });
  return `${location.origin}${location.pathname}#${decodeURIComponent(options)}`;
}

const LOOPBACK = /^(localhost|127(\.\d+){3}|\[::1\])$/;

/** What else somebody needs who gets a link: the way to a server that listens on its own machine only; "" if nothing. */
export function reachOf({ hostname, port, protocol }) {
  if (!LOOPBACK.test(hostname)) return "";
  const number = port || (protocol === "https:" ? 443 : 80);
  return ` It opens on the machine of this page only; on another one, run first: ssh -N -L ${number}:127.0.0.1:${number} and the name of that machine.`;
}
