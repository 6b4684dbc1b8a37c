/**
 * Steering a mover by keys: W A S D or the arrows walk as the camera looks, Shift runs, space jumps, Escape ends it. The
 * velocity is sent when it changes, and again as long as it lasts, each time for half a second only: a mover whose page crashes, or
 * whose window loses the keyboard, stops.
 */
import { Vector3 } from "three";
import { command } from "cairn-client";
import { keyOf } from "./keys.js";

/** Speeds of walking, running and jumping, m/s. */
const WALK = 1.5, RUN = 4, JUMP = 4;
/** How long a command lasts, s; it is sent again after a share of this, and no two are sent within LEAST_MS. */
const LASTS_S = 0.5, AGAIN_MS = 200, LEAST_MS = 40;
/** A change of the velocity that is sent, m/s. */
const CHANGE = 0.05;
const UP = new Vector3(0, 1, 0);
/** Which way a key goes: to the right, and forward. */
const WAYS = {
  w: [0, 1], s: [0, -1], a: [-1, 0], d: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1], ArrowLeft: [-1, 0], ArrowRight: [1, 0],
};

export class Steering {
  #held = new Set();
  #runs = false;
  #sent = new Vector3();
  #sentAt = -Infinity;
  #timer = 0;
  #world = null;

  /** @param viewer {stage, button, world(), chosen(), connected(), note(text), report(error), began()} */
  constructor(viewer) {
    this.viewer = viewer;
    /** The mover that is steered; 0: none. */
    this.id = 0;
  }

  get on() { return this.id !== 0; }

  /** Begins to steer a body. */
  async begin(id) {
    const world = this.viewer.world();
    if (id === 0 || world === null) {
      this.viewer.note("Choose a mover first: then its keys steer it.");
      return;
    }
    try {
      if ((await world.facts(id)).mover === null) {
        this.viewer.note(`Body ${id} is no mover, and only movers walk.`);
        return;
      }
    } catch (error) {
      this.viewer.report(error);
      return;
    }
    if (this.viewer.chosen() !== id || this.viewer.world() !== world) return; // another was chosen meanwhile
    this.id = id;
    this.#world = world;
    this.#sent.set(0, 0, 0);
    clearInterval(this.#timer);
    this.#timer = setInterval(() => this.#send(), LEAST_MS);
    this.viewer.button.setAttribute("aria-pressed", true);
    this.viewer.stage.canvas.focus();
    this.viewer.began();
    this.viewer.note(world.mode === "running" ? "W A S D or arrows walk, Shift runs, space jumps, Escape ends."
      : "The world does not run: the mover walks when it does.", 8000);
  }

  /** Ends steering; the mover stops. */
  end() {
    if (!this.on) return;
    this.letGo();
    this.#stop();
  }

  #stop() {
    clearInterval(this.#timer);
    this.#held.clear();
    this.id = 0;
    this.viewer.button.setAttribute("aria-pressed", false);
  }

  /** All keys count as released: the window has lost the keyboard. */
  letGo() {
    this.#held.clear();
    this.#runs = false;
    if (this.on) this.#send();
  }

  /** A key was pressed or released. @returns {boolean} whether it steers, so that it does nothing else */
  key(event, down) {
    if (!this.on) return false;
    this.#runs = event.shiftKey;
    const key = keyOf(event);
    if (key === "Escape" && down) this.end();
    else if (key === " " && down && !event.repeat) this.#send(JUMP);
    else if (WAYS[key] !== undefined) {
      if (down) this.#held.add(key);
      else this.#held.delete(key);
      this.#send();
    }
    return key === "Escape" || key === " " || key === "Shift" || WAYS[key] !== undefined;
  }

  /** The velocity that the keys ask for, along the ground. */
  #wish() {
    const [right, forward] = [...this.#held].reduce(([x, y], key) => [x + WAYS[key][0], y + WAYS[key][1]], [0, 0]);
    const ahead = this.viewer.stage.camera.getWorldDirection(new Vector3());
    ahead.y = 0;
    // A camera that looks straight down has its upper edge ahead.
    if (ahead.length() < 1e-3) ahead.copy(UP).applyQuaternion(this.viewer.stage.camera.quaternion).setY(0);
    ahead.normalize();
    const aside = ahead.clone().cross(UP);
    return ahead.multiplyScalar(Math.sign(forward)).addScaledVector(aside, Math.sign(right)).setLength(this.#runs ? RUN : WALK);
  }

  #send(jump = 0) {
    const { world, connected, report } = this.viewer, now = performance.now();
    if (world() !== this.#world) {
      this.#stop();
      return;
    }
    // Commands to a world that does not run, or that cannot be reached, would all act at once afterwards.
    if (!connected() || this.#world.mode !== "running") return;
    const wish = this.#held.size > 0 ? this.#wish() : new Vector3(), walks = wish.lengthSq() > 0;
    const changed = wish.distanceTo(this.#sent) > CHANGE;
    const due = walks && now - this.#sentAt > AGAIN_MS;
    if (jump === 0 && !due && !changed) return;
    this.#sent.copy(wish);
    this.#sentAt = now;
    const ticks = Math.max(1, Math.round(LASTS_S * (this.#world.rate || 60)));
    this.#world.send(command("steer", { body: this.id, velocity: wish.toArray(), jump, ticks })).catch((error) => {
      if (!this.on) return;
      this.#stop();
      report(error);
    });
  }
}
