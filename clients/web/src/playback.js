/**
 * The interpolation buffer. Frames arrive at the pace of the network; pictures are drawn at the pace of the screen. The buffer
 * stores the poses of the last frames; a picture shows a moment in the past, between two of these frames.
 */
const FRAMES_KEPT = 8;
/** Delay of a picture behind the newest frame, in frames. A smaller delay stutters if a frame is late. */
const DELAY = 2;
/** If the playhead is off by more than this many seconds of ticks, it jumps. */
const JUMP_S = 0.5;
/** If no frame arrives for this long, ms, the world counts as paused, and the newest frame is shown. */
const STILL_MS = 200;
/** In a paused world a playhead this close to the newest frame, in ticks, jumps to it. */
const NEAR = 0.05;
/** Share of the playhead's error that is corrected per second, 1/s. */
const PULL = 4;

/** The rate of ticks is measured over this time, ms, because frames may arrive in bunches. */
const WINDOW_MS = 1000;

export class Playback {
  #frames = [];
  #playhead = 0;
  #last = 0;
  #nominal = 60;
  /** Arrivals of the frames of the last second: {tick, at (ms)}. */
  #arrivals = [];
  /** Frames are shown as they come, without interpolation: those of the past may go backward, and their pace is the server's. */
  direct = false;

  /** Empties the buffer, for another epoch or another world. `rate`: its nominal rate, Hz. */
  clear(rate) {
    this.#frames = [];
    this.#arrivals = [];
    this.#nominal = rate || 60;
  }

  /** Stores the present poses of the mirror. */
  push(mirror, now) {
    const newest = this.#frames.at(-1);
    if (newest !== undefined && (mirror.epoch !== newest.epoch || mirror.tick < newest.tick)) this.clear(this.#nominal);
    // The arrays of the oldest frame are reused.
    const frame = this.#frames.length >= FRAMES_KEPT ? this.#frames.shift() : {};
    const { end } = mirror;
    if (frame.position === undefined || frame.position.length < end * 3) {
      frame.position = new Float32Array(mirror.capacity * 3);
      frame.rotation = new Float32Array(mirror.capacity * 4);
      frame.ids = new Uint32Array(mirror.capacity);
    }
    frame.position.set(mirror.position.subarray(0, end * 3));
    frame.rotation.set(mirror.rotation.subarray(0, end * 4));
    frame.ids.set(mirror.ids.subarray(0, end));
    Object.assign(frame, { end, tick: mirror.tick, epoch: mirror.epoch, at: now });
    // Frames before a pause say nothing about the pace after it.
    if (newest !== undefined && now - newest.at > STILL_MS) this.#arrivals = [];
    this.#arrivals.push({ tick: mirror.tick, at: now });
    while (now - this.#arrivals[0].at > WINDOW_MS) this.#arrivals.shift();
    this.#frames.push(frame);
  }

  #seen() {
    const first = this.#arrivals[0], last = this.#arrivals.at(-1);
    return first === undefined || last.at - first.at < WINDOW_MS / 4 ? null
      : { ticks: last.tick - first.tick, seconds: (last.at - first.at) / 1000 };
  }

  /** Measured ticks per second; until enough frames have arrived, the nominal rate. */
  get rate() {
    const seen = this.#seen();
    return seen === null ? this.#nominal : seen.ticks / seen.seconds;
  }

  /** Mean number of ticks from one frame to the next. */
  get interval() {
    const seen = this.#seen();
    return seen === null ? 1 : seen.ticks / (this.#arrivals.length - 1);
  }

  /** The tick that pictures show, with a fractional part. */
  get playhead() { return this.#playhead; }

  /**
   * Moves the playhead to `now` (ms) and finds the frames around it.
   * @returns {{from, to, part: number}|null} a pose is from + part × (to − from)
   */
  at(now) {
    const newest = this.#frames.at(-1);
    if (newest === undefined) return null;
    const seconds = Math.min(Math.max((now - this.#last) / 1000, 0), 0.1);
    this.#last = now;
    if (this.direct) {
      this.#playhead = newest.tick;
      return { from: newest, to: newest, part: 0 };
    }
    const still = now - newest.at > STILL_MS;
    const wanted = still ? newest.tick : newest.tick - DELAY * this.interval;
    const { rate } = this, before = this.#playhead, next = before + (still ? 0 : seconds * rate);
    const off = wanted - next;
    const near = still && Math.abs(off) < NEAR;
    if (near || Math.abs(off) > JUMP_S * Math.max(rate, 1)) this.#playhead = wanted;
    // The playhead may run slower or faster for a while, but never backwards.
    else this.#playhead = Math.max(before, next + off * Math.min(1, seconds * PULL * (still ? 4 : 1)));
    this.#playhead = Math.min(this.#playhead, newest.tick);
    return this.#around(newest);
  }

  #around(newest) {
    let to = newest, from = newest;
    for (let i = this.#frames.length - 1; i >= 0; i--) {
      from = this.#frames[i];
      if (from.tick <= this.#playhead) break;
      to = from;
    }
    const span = to.tick - from.tick;
    return { from, to, part: span > 0 ? Math.min(Math.max((this.#playhead - from.tick) / span, 0), 1) : 0 };
  }
}

/**
 * Writes the pose of a slot to position[3] and rotation[4] (w first). A body that is not in both frames gets its pose in `to`.
 */
export function poseAt({ from, to, part }, slot, position, rotation) {
  const lone = slot >= from.end || from.ids[slot] !== to.ids[slot];
  const a = lone ? to : from, p = slot * 3, q = slot * 4;
  for (let i = 0; i < 3; i++) position[i] = a.position[p + i] + (to.position[p + i] - a.position[p + i]) * part;
  let dot = 0;
  for (let i = 0; i < 4; i++) dot += a.rotation[q + i] * to.rotation[q + i];
  const sign = dot < 0 ? -1 : 1;
  let square = 0;
  for (let i = 0; i < 4; i++) {
    rotation[i] = a.rotation[q + i] * (1 - part) + to.rotation[q + i] * sign * part;
    square += rotation[i] * rotation[i];
  }
  const scale = square > 0 ? 1 / Math.sqrt(square) : 0;
  for (let i = 0; i < 4; i++) rotation[i] *= scale;
}
