/** The numbers in the corner: tick and speed of the world, traffic of the stream, cost of decoding and drawing. */

/** Periods of updates and of PING, ms. */
const SHOW_MS = 500;
const PING_MS = 2000;
/** A longer lag is highlighted, ms. */
const LAG_MS = 150;

export class Statistics {
  #shown = 0;
  #pinged = 0;
  #frames = 0;
  #bytes = 0;
  #pictures = 0;
  #decoding = 0;
  #changing = false;

  constructor(list) {
    this.list = list;
    this.values = {};
    this.skipped = this.lost = 0;
    this.lag = null;
    /** Requested speed, multiples of real time. */
    this.speed = 1;
  }

  /** Counts a frame of the subscription: its bytes, the milliseconds to decode it, and whether bodies changed in it. */
  frame(bytes, ms, changed) {
    this.#changing ||= changed;
    this.#frames++;
    this.#bytes += bytes;
    this.#decoding += ms;
  }

  notice({ skipped, lost }) {
    this.skipped += skipped;
    this.lost += lost;
  }

  /** Called once per picture; `drawn`: something had changed. */
  picture(now, client, world, mirror, playback, drawn) {
    if (drawn) this.#pictures++;
    if (now - this.#pinged > PING_MS) {
      this.#pinged = now;
      client.ping().then((ms) => { this.lag = ms; }, () => {});
    }
    if (now - this.#shown < SHOW_MS) return;
    const seconds = Math.max((now - this.#shown) / 1000, 1e-3);
    this.values = {
      tick: mirror.tick,
      bodies: mirror.count,
      all: world.bodies,
      partial: mirror.partial,
      dilation: world.mode === "running" && world.rate > 0 ? playback.rate / world.rate : 0,
      frames: this.#frames / seconds,
      kilobits: (this.#bytes * 8) / 1000 / seconds,
      decode: this.#frames > 0 ? this.#decoding / this.#frames : 0,
      pictures: this.#pictures / seconds,
      moving: this.#changing,
      lag: this.lag,
      skipped: this.skipped,
      lost: this.lost,
    };
    this.#shown = now;
    this.#frames = this.#bytes = this.#pictures = this.#decoding = 0;
    this.#changing = false;
    this.#write();
  }

  #write() {
    const v = this.values;
    const rows = {
      Tick: v.tick,
      Bodies: v.bodies < v.all ? `${v.bodies} of ${v.all}` : v.bodies,
      Time: v.dilation > 0 ? `${v.dilation.toFixed(2)} × nominal` : "not running",
      Frames: `${v.frames.toFixed(0)} /s, ${v.decode.toFixed(2)} ms each`,
      Bandwidth: `${v.kilobits.toFixed(0)} kbit/s`,
      Lag: v.lag === null ? "–" : `${v.lag.toFixed(1)} ms`,
      Pictures: v.pictures > 0 ? `${v.pictures.toFixed(0)} /s` : "nothing changes",
      Skipped: `${v.skipped} frames, ${v.lost} events`,
    };
    const warm = { Time: v.dilation > 0 && v.dilation < this.speed * 0.9, Lag: v.lag > LAG_MS, Pictures: v.moving && v.frames > 10 && v.pictures < 10 };
    Object.entries(rows).forEach(([name, value], i) => {
      if (this.list.children.length <= i * 2) this.list.append(document.createElement("dt"), document.createElement("dd"));
      const [term, text] = [this.list.children[i * 2], this.list.children[i * 2 + 1]];
      term.textContent = name;
      text.textContent = value;
      text.className = warm[name] ? "warm" : "";
    });
  }
}
