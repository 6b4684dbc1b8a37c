/** Restricts the subscription to the camera's frustum, which moves with the camera. */
import { Quaternion, Vector3 } from "three";
import { areas } from "cairn-client";

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

  /** @param stage whose camera looks */
  constructor(stage) {
    this.stage = stage;
    this.on = false;
  }

  /** Forgets the last FOCUS, because the subscription is new. */
  clear() {
    this.on = false;
    this.#last = "";
  }

  /** On: from now on the frustum; off: everything. @param link its world, subscription and mirror */
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

  /** Once a picture. @param {number} chosen a body that is seen wherever it is, or 0 */
  refresh(link, chosen, now) {
    if (!this.on || now - this.#sent < SEND_MS || !link.connected) return;
    const { camera } = this.stage, tall = Math.tan((camera.fov * Math.PI) / 360) * WIDER;
    const way = camera.getWorldDirection(new Vector3()), turn = camera.getWorldQuaternion(new Quaternion());
    const eye = camera.position.clone().addScaledVector(way, -BACK);
    const area = areas.frustum(eye.toArray(), [turn.w, turn.x, turn.y, turn.z], tall * camera.aspect, tall, 0.1,
      this.stage.scene.fog.far);
    const follow = chosen === 0 || this.#grounds.includes(chosen) ? this.#grounds : [...this.#grounds, chosen];
    const words = JSON.stringify([area, follow]);
    if (words === this.#last) return;
    this.#last = words;
    this.#sent = now;
    link.world.focus(link.subscription, { areas: [area], follow });
  }
}
