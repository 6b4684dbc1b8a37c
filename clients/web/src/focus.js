/** Restricts the subscription to the camera's frustum, which moves with the camera. */
import { Quaternion, Vector3 } from "three";
import { areas } from "cairn-client";

/** Shortest time between two FOCUS messages, ms. */
const SEND_MS = 150;
/** A body is in an area if its origin is, so the area is wider than the frustum by this share, and begins this many metres
 * behind the eye. Smaller margins lose bodies at the edge of the picture. */
const WIDER = 1.15;
const BACK = 4;
const FOLLOW_MAX = 64;
const STATIC = 1;

export class Focus {
  #sent = -Infinity;
  #last = "";
  #grounds = [];

  /** @param stage its camera defines the frustum */
  constructor(stage) {
    this.stage = stage;
    this.on = false;
  }

  /** Forgets the last FOCUS, because the subscription is new. */
  clear() {
    this.on = false;
    this.#last = "";
  }

  /** Restricts the subscription of `link` to the frustum (on), or resets it to the whole world (off). */
  set(on, link) {
    if (on === this.on || !link.subscription) return;
    this.on = on;
    this.#last = "";
    if (!on) {
      link.world.focus(link.subscription);
      return;
    }
    // Large static bodies, such as the ground, may have their origin anywhere, so they are followed.
    const { mirror } = link;
    this.#grounds = [...mirror.slots].filter(([, slot]) => mirror.status[slot * 2] === STATIC).map(([id]) => id)
      .slice(0, FOLLOW_MAX - 1);
  }

  /** Called once per picture: sends FOCUS if the frustum has changed. @param {number} chosen id of a body to include anyway, or 0 */
  refresh(link, chosen, now) {
    if (!this.on || now - this.#sent < SEND_MS || !link.connected) return;
    const { camera } = this.stage, tall = Math.tan((camera.fov * Math.PI) / 360) * WIDER;
    const way = camera.getWorldDirection(new Vector3()), turn = camera.getWorldQuaternion(new Quaternion());
    const eye = camera.position.clone().addScaledVector(way, -BACK);
    // The picture may be shifted between the panels; the area is wide enough for a shift to either side.
    const { offsetX, offsetY, fullWidth, fullHeight } = camera.view;
    const [wide, high] = [offsetX / fullWidth, offsetY / fullHeight].map((share) => 1 + 2 * Math.abs(share));
    const area = areas.frustum(eye.toArray(), [turn.w, turn.x, turn.y, turn.z], tall * camera.aspect * wide, tall * high, 0.1,
      this.stage.scene.fog.far);
    const follow = chosen === 0 || this.#grounds.includes(chosen) ? this.#grounds : [...this.#grounds, chosen];
    const key = JSON.stringify([area, follow]);
    if (key === this.#last) return;
    this.#last = key;
    this.#sent = now;
    link.world.focus(link.subscription, { areas: [area], follow });
  }
}
