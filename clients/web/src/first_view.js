/**
 * The first view of a world. Bodies may arrive in several frames: a frame may be cut to a budget (Mirror.partial), and a world
 * may be filled while it is watched. The view is final once no more are expected; until somebody moves the camera it is fitted
 * again to bodies that arrive soon afterwards.
 */

/** So many frames that were cut one after the other, without a new body, end the wait for bodies. Frames and not time, because
 * a slow machine takes seconds for a few pictures. */
const WAIT_FRAMES = 30;
/** Bodies that arrive so soon after the view became final belong to the beginning, ms. */
const SOON_MS = 1000;

export class FirstView {
  #stage;
  #fit;
  #waited = 0;
  #count = 0;
  #at = { now: 0, tick: 0 };

  /** @param fit mirror → points the camera at all bodies */
  constructor(stage, fit) {
    this.#stage = stage;
    this.#fit = fit;
    this.clear();
  }

  /** A world was left. */
  clear() {
    /** The view is final: all bodies that the server had have arrived. */
    this.framed = false;
    /** Number of bodies to which the camera was last fitted. */
    this.fitted = 0;
    this.#count = 0;
    this.#waited = 0;
    this.#stage.handled = false;
  }

  /** A frame has arrived. */
  take(mirror) {
    this.#waited = mirror.count > this.#count ? 0 : this.#waited + 1;
    this.#count = mirror.count;
  }

  /** More bodies are expected. A world that moves much within a small budget is cut in every frame, but gets no new bodies. */
  #arriving(mirror) {
    return mirror.count === 0 || (mirror.partial && this.#waited < WAIT_FRAMES);
  }

  /** Bodies have arrived since the last fit, so soon that they belong to the beginning, and the camera is where the fit put it. */
  #outdated(mirror, now) {
    if (mirror.count <= this.fitted || this.#stage.handled) return false;
    return !this.framed || mirror.tick === this.#at.tick || now - this.#at.now < SOON_MS;
  }

  /**
   * Fits the view if it has to be; all shapes that arrived are drawn.
   * @returns {boolean} true once: the view has become final
   */
  refresh(mirror, now) {
    const final = !this.framed && !this.#arriving(mirror);
    if (final || this.#outdated(mirror, now)) {
      if (!this.#stage.handled) this.#fit(mirror);
      this.fitted = mirror.count;
    }
    if (!final) return false;
    this.framed = true;
    this.#at = { now, tick: mirror.tick };
    return true;
  }
}
