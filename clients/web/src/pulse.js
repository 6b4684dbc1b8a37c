/**
 * When pictures are made: at the pace of the screen while something changes, and REST_MS apart otherwise, so that an idle page
 * costs next to nothing. A change that the page hears of calls wake().
 */

/** The screen's pace is kept this long after the last change, ms. */
const KEEP_MS = 300;
/** Period of an idle page, in which its texts and queries are refreshed, ms. */
const REST_MS = 250;

export class Pulse {
  #picture;
  #frame = 0;
  #timer = 0;
  #busyUntil = 0;

  /** @param picture (now) → whether something has changed and was drawn */
  constructor(picture) {
    this.#picture = picture;
    for (const event of ["pointerdown", "pointerup", "wheel", "keydown", "keyup", "click", "change", "input", "resize", "focus"])
      window.addEventListener(event, () => this.wake(), { capture: true, passive: true });
    // Without a button the pointer's way changes nothing.
    window.addEventListener("pointermove", ({ buttons }) => { if (buttons !== 0) this.wake(); }, { passive: true });
  }

  /** The next picture comes with the screen's next frame. */
  wake() {
    this.#busyUntil = performance.now() + KEEP_MS;
    if (this.#frame === 0) this.#next();
  }

  #next() {
    clearTimeout(this.#timer);
    this.#frame = requestAnimationFrame(() => this.#tick());
  }

  #tick() {
    this.#frame = 0;
    const now = performance.now();
    if (this.#picture(now)) this.#busyUntil = now + KEEP_MS;
    if (this.#frame !== 0) return; // woken meanwhile
    if (now < this.#busyUntil) this.#next();
    else this.#timer = setTimeout(() => this.#tick(), REST_MS);
  }
}
