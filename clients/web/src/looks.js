/**
 * Asks for the colours of bodies and for their visuals. No frame tells of them: they are asked for when a world is joined, when bodies have been made, and
 * from time to time in case that a command has changed one.
 */

/** Time between two requests: after bodies were made, and otherwise while the world's state changes, ms. */
const NEW_MS = 250, OLD_MS = 3000;

export class Looks {
  #crowd;
  #at = -Infinity;
  #asked = "";
  #bodies = -1;
  #waiting = false;

  constructor(crowd) {
    this.#crowd = crowd;
    /** Answers received of the joined world. */
    this.answers = 0;
    this.joins = 0;
  }

  /** A world was left. */
  clear() {
    this.#at = -Infinity;
    this.#asked = "";
    this.#bodies = -1;
    this.answers = 0;
    this.joins++;
  }

  /** Called once per picture. */
  refresh(world, mirror, now) {
    const state = `${mirror.epoch}/${mirror.tick}/${mirror.edit}`, made = mirror.count !== this.#bodies;
    if (this.#waiting || state === this.#asked || now - this.#at < (made ? NEW_MS : OLD_MS)) return;
    this.#at = now;
    this.#asked = state;
    this.#bodies = mirror.count;
    this.#waiting = true;
    const { joins } = this;
    const visuals = world.visuals().catch(() => new Map()); // a server without visuals
    Promise.all([world.colours(), visuals]).then(([given, shown]) => {
      if (this.joins !== joins) return; // another world was joined meanwhile
      this.answers++;
      this.#crowd.colour(given);
      this.#crowd.dress(shown, mirror);
    }, () => {}) // a server without LOOKS; or the connection is lost, and the next one asks again
      .finally(() => { this.#waiting = false; });
  }
}
