/** A world that a client has joined: pace, commands, queries and subscriptions. */
import { CONTROL, MODES, command, eventOf, resultOf } from "./commands.js";
import { jointMask } from "./joints.js";
import { COLUMN, MESSAGE, STATUS } from "./manifest.js";
import { Mirror, PROFILE } from "./mirror.js";
import { checkFinite } from "./numbers.js";
import { particleMask } from "./particles.js";
import { Queries } from "./queries.js";
import { Closed, Refused } from "./wire.js";

/** Bytes of a shape in one SHAPE_UPLOAD. */
const PART = 57344;
const NONE = new Uint8Array(0);
/** Columns of a subscription that names none: position, rotation, velocity, spin, status. */
const FIELDS = 31;

/** A mask of columns from a mask or from names of columns. @throws {TypeError} for an unknown name */
function maskOf(fields) {
  if (typeof fields === "number") return fields;
  return fields.reduce((mask, name) => {
    if (COLUMN[name] === undefined) throw new TypeError(`there is no column ${name}`);
    return mask | COLUMN[name];
  }, 0);
}

const soughtOf = ({ epoch, tick, speed, first, last, present }) =>
  ({ epoch, tick, speed, first, last, present: present !== 0 });

export class World extends Queries {
  #batch = 0;
  #request = 0;
  /** Batches and STEPs without an answer, by number: {values, resolve, reject}. */
  #batches = new Map();
  #steps = new Map();

  constructor(client, info) {
    super();
    this.client = client;
    this.name = info.name;
    this.notes = [];
    /** Subscriptions by number, as `subscribe` gives them. */
    this.subscriptions = new Map();
    this.shapeIds = new Map();
    /** Called for each WORLD_INFO: the server's report of the world's pace and counts. */
    this.onInfo = () => {};
    this.takeInfo(info);
  }

  takeInfo(info) {
    this.number = info.world;
    this.epoch = info.epoch;
    this.tick = info.tick;
    this.rate = info.rate ? info.rate[0] / info.rate[1] : 0;
    this.method = info.method;
    this.mode = MODES[info.mode];
    this.bodies = info.bodies;
    this.onInfo?.(this);
  }

  /** Requests mode, method and counts, which other sessions may have changed; onInfo is called. */
  async refresh() {
    this.takeInfo(await this.client.request("world_join", { world: this.number }, "world_info"));
  }

  // ---- pace ------------------------------------------------------------------------------------

  /** action: pause, resume, speed (value: times real time), lockstep or barrier (value: sessions). */
  async control(action, value = 1) {
    checkFinite("value", value);
    this.takeInfo(await this.client.request("control", { world: this.number, action: CONTROL[action], value },
      "world_info"));
  }

  /**
   * Applies commands, then n ticks (0: none), to a world that is not running: {tick, edit, epoch, hash, tickHash, values};
   * values: the ids the commands made. A rollback in one round trip: `restore` is a state kept with save(…, {rollback: true})
   * or an earlier step, to return to before the commands; `save` is the name to keep the state after the ticks as (kept:
   * whether it is).
   * @throws {Refused}
   */
  async step(n = 1, commands = [], { restore = "", save = "" } = {}) {
    const request = this.nextStep();
    const message = await this.#numbered(this.#steps, request, "step",
      { world: this.number, request, from: null, n, commands, want: 1, restore, save });
    this.tick = message.tick;
    const values = message.results.length > 0 ? resultOf(message.results[0]).values : [];
    const { tick, edit, epoch, state_hash: hash, tick_hash: tickHash } = message;
    return { tick, edit, epoch, hash, tickHash, values, kept: message.code === 0 };
  }

  /** The number of the next STEP; Client.stepWorlds uses it too. */
  nextStep() { return ++this.#request; }

  /** Ends the world and removes its file; for an administrator. @throws {Refused} "forbidden" */
  async destroy() {
    await this.client.request("world_destroy", { world: this.number }, "reply");
    this.client.worlds.delete(this.number);
  }

  // ---- saving ---------------------------------------------------------------------------------

  /**
   * Saves the state on the server under a name: {epoch, tick, edit, hash}. `rollback`: in memory only, for rollbacks; such
   * states have names of their own, and end with the server.
   */
  async save(name, { rollback = false } = {}) {
    const { epoch, tick, edit, hash } =
      await this.client.request("save", { world: this.number, name, kind: rollback ? 1 : 0 }, "saved");
    return { epoch, tick, edit, hash: hash.slice() };
  }

  /**
   * Restores a saved state (`rollback`: one saved with rollback), or with `tick` any tick of the past (epoch 0: the last epoch that has it); a new epoch begins:
   * {epoch, tick, edit, hash, otherBits}. otherBits is true if the state was saved by a build whose floating-point results
   * differ in their bits.
   */
  async restore(name, { tick = null, epoch = 0, rollback = false } = {}) {
    const answer = await this.client.request("restore",
      { world: this.number, name: name ?? "", tick, epoch, kind: rollback ? 1 : 0 }, "restored");
    Object.assign(this, { epoch: answer.epoch, tick: answer.tick });
    return {
      epoch: answer.epoch, tick: answer.tick, edit: answer.edit, hash: answer.hash.slice(), otherBits: answer.other_bits !== 0,
    };
  }

  /** Returns to the state before the world's first tick; a new epoch begins. */
  restart() { return this.restore("start"); }

  /** Returns a world that does not run to the state `ticks` ticks ago, to tick 0 if there were fewer. @throws {Refused} "range" */
  stepBack(ticks = 1) { return this.restore("", { tick: Math.max(this.tick - ticks, 0) }); }

  /** Copies the present state, a saved one or that of a tick of the past or of a recording (null: its end) to a new, paused world. @returns {Promise<World>} joined */
  async fork(name, snapshot = "", { tick = null, epoch = 0, recording = "" } = {}) {
    await this.client.request("fork", { world: this.number, name, snapshot, tick, epoch, recording }, "forked");
    return this.client.join(name);
  }

  // ---- recordings -----------------------------------------------------------------------------

  async #record(action, name, values = {}) {
    const fields = { world: this.number, action, name, title: "", tick: null, epoch: 0, seconds: 0, bytes: 0, offset: 0, data: NONE };
    const answer = await this.client.request("record", { ...fields, ...values }, "recorded");
    const { bytes, data } = answer;
    const first = { epoch: answer.first_epoch, tick: answer.first }, last = { epoch: answer.last_epoch, tick: answer.last };
    return { name: answer.name, first, last, bytes, data: (data ?? NONE).slice() };
  }

  /**
   * Starts a recording of the world, a file on the server: {name, first, last, bytes}. `seconds`: only the last so many of world time
   * are kept. `bytes`: the oldest part is dropped while the world's file is larger. @throws {Refused} exists, range, unsupported
   */
  record(name, { title = "", seconds = 0, bytes = 0 } = {}) { return this.#record(0, name, { title, seconds, bytes }); }

  /** Ends the running recording and writes its file. @throws {Refused} missing, exists, full */
  stopRecording(name = "") { return this.#record(1, name); }

  /** Writes the past from a tick on (null: all of it) as a recording. */
  saveRecording(name, { title = "", tick = null, epoch = 0 } = {}) { return this.#record(2, name, { title, tick, epoch }); }

  /** @throws {Refused} missing */
  async removeRecording(name) { await this.#record(3, name); }

  /** The bytes of a recording's file, which `cairn replay`, `export` and a data directory take. */
  async readRecording(name) {
    const parts = [];
    for (let offset = 0; ;) {
      const { data } = await this.#record(4, name, { offset });
      if (data.length === 0) break;
      parts.push(data);
      offset += data.length;
    }
    return new Uint8Array(await new Blob(parts).arrayBuffer());
  }

  /**
   * Shows `tick` of the world's past in a subscription, or plays from there; null: the present again. Nobody else sees it.
   * `speed`: world time per wall time, negative backward, 0: the tick stands. `recording`: of this one in place of the past.
   * Resolves with {epoch, tick, speed, first, last, present}; first and last are the ticks that can be shown. The subscription's onSought gets the same when playing reaches
   * an end. @throws {Refused} range, unsupported, busy, forbidden
   */
  async seek({ sub }, tick = null, { speed = 0, epoch = 0, recording = "" } = {}) {
    return soughtOf(await this.client.request("seek", { sub, tick, speed, epoch, recording }, "sought"));
  }

  /** A SOUGHT: what follows is of the past, or of the present again. */
  takeSought(message) {
    const subscription = this.subscriptions.get(message.sub);
    if (subscription === undefined) return;
    subscription.past = message.present === 0;
    if (message.ref === 0) subscription.onSought?.(soughtOf(message));
  }

  // ---- input -----------------------------------------------------------------------------------

  /** Sends a numbered message. The server applies each number once, so the message may be sent again after a resume. */
  #numbered(pending, number, name, values) {
    return new Promise((resolve, reject) => {
      pending.set(number, { values, resolve, reject });
      try {
        this.client.send(name, values);
      } catch (error) {
        // A resumable session sends it again after the resume.
        if (this.client.welcome?.resume_token) return;
        pending.delete(number);
        reject(error);
      }
    });
  }

  /**
   * Sends a batch of commands, which is applied at the next tick, or at once if the world is not running.
   * @returns {Promise<{batch, tick, edit, values}>} values: the ids the commands made
   * @throws {Refused}
   */
  send(...commands) {
    const batch = ++this.#batch;
    return this.#numbered(this.#batches, batch, "commands",
      { world: this.number, batch, at: null, late: 0, list: commands });
  }

  takeResult(message) {
    if (message.type === "durable") {
      this.durable = message.tick;
      this.durableEdit = message.edit;
      return;
    }
    for (const item of message.list) {
      // The batch waits for its tick: another result follows.
      if (STATUS[item[2]]?.[0] === "waiting") continue;
      const waiting = this.#batches.get(item[0]);
      this.#batches.delete(item[0]);
      try {
        waiting?.resolve(resultOf(item));
      } catch (error) {
        waiting.reject(error);
      }
    }
  }

  takeStepped(message) {
    this.#steps.get(message.request)?.resolve(message);
    this.#steps.delete(message.request);
  }

  /** An ERROR that answers no pending request: about a batch, a STEP, or a subscription. */
  takeError({ about, ref, code, text, field, index }) {
    const error = new Refused(code, text, field, index);
    for (const [name, pending] of [["commands", this.#batches], ["step", this.#steps]]) {
      if (about !== MESSAGE[name].number) continue;
      pending.get(ref)?.reject(error);
      // An ERROR does not use up the batch's number; the next batch takes it.
      if (pending.delete(ref) && name === "commands" && this.#batch === ref) this.#batch--;
    }
    const subscription = this.subscriptions.get(ref);
    if (subscription === undefined) return;
    if (about === MESSAGE.focus.number) subscription.onRefused?.(error);
    if (about !== MESSAGE.subscribe.number && about !== MESSAGE.resync.number) return;
    this.subscriptions.delete(ref);
    subscription.onEnd?.(error);
  }

  end(error) {
    for (const pending of [this.#batches, this.#steps]) {
      for (const { reject } of pending.values()) reject(error);
      pending.clear();
    }
  }

  /** Sends a batch to a running world, or applies it without a tick to a world that is not running; its result. */
  apply(...commands) {
    return this.mode === "running" ? this.send(...commands) : this.step(0, commands);
  }

  async #upload(name, data) {
    const ref = this.client.nextRef(), of = Math.max(1, Math.ceil(data.length / PART));
    const part = (i) => ({
      ref, world: this.number, shape: name, part: i, of, data: data.subarray(i * PART, (i + 1) * PART),
    });
    for (let i = 0; i + 1 < of; i++) this.client.send("shape_upload", part(i));
    await this.client.ask("shape_upload", part(of - 1), "shape_info", ref);
  }

  /** Uploads canonical bytes (once; a player may only name shapes that the world has) and returns the shape's id in this world. Needs crypto.subtle: https, localhost or Node. */
  async shape(data) {
    const name = new Uint8Array(await crypto.subtle.digest("SHA-256", data));
    const key = String(name);
    if (!this.shapeIds.has(key)) {
      if (this.client.role !== "player") await this.#upload(name, data);
      this.shapeIds.set(key, (await this.apply(command("shape_use", { name }))).values[0]);
    }
    return this.shapeIds.get(key);
  }

  /** Makes a body; fields of the command `spawn`, status 2 (dynamic) if none is given. @returns {Promise<number>} its id */
  async spawn(fields) {
    return (await this.apply(command("spawn", { status: 2, position: [0, 0, 0], ...fields }))).values[0];
  }

  /** Pushes a body with a force (N, world axes) for some ticks, or with an impulse (N s), at its mass centre or at `point`. */
  push(body, vector, { impulse = false, point = [0, 0, 0], ticks = 1 } = {}) {
    return this.apply(impulse ? command("impulse", { body, impulse: vector, point }) : command("force", { body, force: vector, point, ticks }));
  }

  // ---- watching --------------------------------------------------------------------------------

  /**
   * Subscribes. @returns {Promise<object>} a subscription {sub, mirror, skipped, lost, …}, whose mirror is whole
   * @param {object} options
   * @param {number | string[]} [options.fields] a mask, or names of columns (COLUMN); 31
   * @param {number} [options.profile] of PROFILE: plain, exact, or view and sim, which quantise and need a tenth of the bytes
   * @param {number} [options.divisor] every n-th tick
   * @param {number} [options.events] mask of kinds of events; ALL_EVENTS: all
   * @param {object[]} [options.areas] parts of the world (areas.js); without areas and followed bodies: the whole world
   * @param {number[]} [options.follow] ids of bodies that are included wherever they are
   * @param {number} [options.budget] bytes per second, at least 256; bodies that do not fit wait for a later frame
   *   (Mirror.partial)
   * @param {number | string[] | true} [options.joints] columns of joints (JOINT_COLUMN), true: all; Mirror.joints then has
   *   the joints of the mirror's bodies
   * @param {number | string[] | true} [options.particles] columns of particles (PARTICLE_COLUMN), true: all; Mirror.particles then has
   *   the particles in the areas; ["count"]: only how many each system has
   * @param {number} [options.sample] only particles whose serial number is a multiple of it
   * @param {number} [options.hash_every] a hash with every n-th frame, 0: with none (hash.js)
   * @param {(mirror, bytes, ms) => void} [options.onFrame] a complete frame: its bytes, and milliseconds to decode it
   * @param {(message, past: boolean) => void} [options.onMessage] each SNAPSHOT, DELTA, ROWS and BLOCKS before it is applied, and whether
   *   it is of the past; its bytes are valid during the call only
   * @param {(tick, events) => void} [options.onEvents] [{kind, a, b, value, fraction, point, normal, childA, childB, speed}, …]
   * @param {(notice: {skipped, lost, divisor}) => void} [options.onNotice] frames were skipped or events lost
   * @param {(error: Refused) => void} [options.onRefused] a FOCUS was refused
   * @param {(sought: object) => void} [options.onSought] a past that was played (`seek`) has reached its end
   * @param {(error: Refused) => void} [options.onEnd] the server ended the subscription, because its world no longer exists
   */
  async subscribe({ fields = FIELDS, profile = PROFILE.exact, joints = 0, particles = 0, onFrame, onMessage, onEvents, onNotice, onRefused, onSought,
    onEnd, ...rest } = {}) {
    const mask = maskOf(fields), sub = this.client.nextRef(), options = { fields: mask, profile, ...rest };
    if (joints !== 0) options.joints = jointMask(joints);
    if (particles !== 0) options.particles = particleMask(particles);
    const subscription = {
      sub, mirror: new Mirror(mask, profile, options.joints, options.particles), options, focus: null,
      onFrame, onMessage, onEvents, onNotice, onRefused, onSought, onEnd, past: false, events: 0, skipped: 0, lost: 0, bytes: 0, ms: 0, resyncing: false,
    };
    try {
      await this.#watch(subscription);
    } catch (error) {
      this.subscriptions.delete(sub);
      throw error;
    }
    return subscription;
  }

  async #watch(subscription) {
    const { sub, options } = subscription;
    this.subscriptions.set(sub, subscription);
    await this.client.ask("subscribe", { sub, world: this.number, ...options }, "snapshot", sub, "sub");
  }

  /**
   * Replaces areas and followed bodies, as often as a camera moves: the next frame adds and removes bodies. A refusal goes
   * to onRefused. If `areas` and `follow` are empty the subscription covers the whole world again, from a snapshot on.
   */
  focus(subscription, { areas = [], follow = [], area = null } = {}) {
    subscription.focus = { area, follow, areas };
    this.client.send("focus", { sub: subscription.sub, ...subscription.focus });
  }

  /** Requests a snapshot, for a mirror that has diverged. */
  resync(subscription) {
    subscription.resyncing = true;
    this.client.send("resync", { sub: subscription.sub });
  }

  async unsubscribe({ sub }) {
    this.subscriptions.delete(sub);
    await this.client.ask("unsubscribe", { sub }, "reply", sub);
  }

  takeState(message, size, started) {
    const subscription = this.subscriptions.get(message.sub);
    if (subscription === undefined) return;
    const { mirror } = subscription;
    if (message.type === "events") {
      subscription.events += message.list.length;
      subscription.onEvents?.(message.tick, message.list.map(eventOf));
      return;
    }
    if (message.type === "notice") {
      subscription.skipped += message.skipped;
      subscription.lost += message.lost;
      subscription.onNotice?.(message);
      return;
    }
    subscription.onMessage?.(message, subscription.past);
    if (message.part === 0 && message.type !== "rows" && message.type !== "blocks") subscription.bytes = subscription.ms = 0;
    subscription.bytes += size;
    if (message.type === "snapshot") subscription.resyncing = false;
    try {
      const whole = mirror.take(message);
      subscription.ms += performance.now() - started;
      if (!whole) return;
    } catch (error) {
      if (!(error instanceof Closed)) throw error;
      if (!subscription.resyncing) this.resync(subscription);
      return;
    }
    if (!subscription.past) {
      this.tick = mirror.tick;
      this.epoch = mirror.epoch;
    }
    this.client.send("ack", { sub: message.sub, epoch: mirror.epoch, tick: mirror.tick, edit: mirror.edit });
    subscription.onFrame?.(mirror, subscription.bytes, subscription.ms);
  }

  // ---- resuming -----------------------------------------------------------------------------

  /** After a resume: sends again the FOCUS, batches and STEPs that the server may not have received, with their old numbers. */
  resendPending() {
    for (const { sub, focus } of this.subscriptions.values())
      if (focus !== null) this.client.send("focus", { sub, ...focus });
    for (const { values } of this.#batches.values()) this.client.send("commands", values);
    for (const { values } of this.#steps.values()) this.client.send("step", values);
  }

  /** After a new session has joined: batch numbers begin at 1, mirrors are empty, subscriptions are the same objects. */
  async rejoin(info) {
    this.end(new Closed("the session was lost"));
    this.#batch = this.#request = 0;
    this.shapeIds.clear();
    this.takeInfo(info);
    for (const subscription of this.subscriptions.values()) {
      const { options, focus } = subscription;
      subscription.mirror = new Mirror(options.fields, options.profile, options.joints, options.particles);
      subscription.events = 0;
      subscription.resyncing = subscription.past = false;
      if (focus !== null) subscription.options = { ...options, ...focus };
      await this.#watch(subscription);
    }
  }
}
