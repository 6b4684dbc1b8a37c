/**
 * A session and its worlds. Every request is a promise; what the server says unasked goes to `on…` callbacks.
 * It computes no physics: it sends commands and keeps mirrors.
 */
import { COMMAND, MESSAGE } from "./manifest.js";
import { Mirror, PROFILE } from "./mirror.js";
import { Closed, Refused, decode, encode } from "./wire.js";

export const MODES = ["running", "paused", "lockstep", "barrier", "failed"];
/** Kinds of events, by number; their bits make SUBSCRIBE.events. */
export const EVENTS = ["", "contact_begin", "contact_end", "sleep", "wake", "out_of_bounds", "quarantine", "fallback",
  "limit", "joint_break", "births", "deaths"];
export const ALL_EVENTS = EVENTS.reduce((sum, name, kind) => name ? sum + 2 ** kind : sum, 0);

const CONTROL = { pause: 0, resume: 1, speed: 2, lockstep: 3, barrier: 4 };
const PART = 57344;

/**
 * A command as the wire wants it: command("impulse", {body: 3, impulse: [0, 1, 0]}).
 * @throws {TypeError} for a field that is missing or not known
 */
export function command(name, values) {
  const { number, fields } = COMMAND[name];
  for (const key of Object.keys(values))
    if (!fields.some(([field]) => field === key)) throw new TypeError(`${name} has no field ${key}`);
  let last = fields.length;
  while (last > 0 && values[fields[last - 1][0]] === undefined && fields[last - 1][1] !== undefined) last--;
  return [number, ...fields.slice(0, last).map(([field, fallback]) => {
    const value = values[field] ?? fallback;
    if (value === undefined) throw new TypeError(`${name} needs ${field}`);
    return value;
  })];
}

export class Client {
  /**
   * Opens a session over what `open(events)` connects.
   * @param {(events: object) => Promise<object>} open as openTcp or openWebSocket with its address bound
   * @param {{role?: string, token?: Uint8Array, name?: string, onClosed?: (error: Closed) => void}} options
   */
  static async over(open, { role, token, name = "cairn-js", onClosed = () => {} } = {}) {
    const client = new Client(onClosed);
    client.#transport = await open({
      content: (bytes) => client.#take(bytes),
      closed: (error) => client.#end(error),
    });
    const hello = { protocol: [1, 0], client: name, caps: ["ack", "exact"] };
    if (role) hello.role = role;
    if (token) hello.token = token;
    client.welcome = await client.#ask("hello", hello, (m) => m.type === "welcome" || m.type === "error");
    client.session = client.welcome.session;
    client.role = client.welcome.role;
    return client;
  }

  #transport = null;
  #ref = 0;
  #waiting = new Set();
  #error = null;

  constructor(onClosed) {
    this.onClosed = onClosed;
    /** Joined worlds by number. */
    this.worlds = new Map();
    this.bytesIn = 0;
    this.messagesIn = 0;
  }

  close() { this.#transport?.close(); }

  /** Sends a message that is not answered, or whose answer comes as a callback. */
  send(name, values) {
    if (this.#error !== null) throw this.#error;
    this.#transport.send(encode(name, values));
  }

  nextRef() { return ++this.#ref; }

  /** Sends and waits for the first message that `matches`; an ERROR that matches is thrown as Refused. */
  #ask(name, values, matches) {
    return new Promise((resolve, reject) => {
      const entry = { matches, resolve, reject };
      this.#waiting.add(entry);
      try {
        this.send(name, values);
      } catch (error) {
        this.#waiting.delete(entry);
        reject(error);
      }
    });
  }

  /** A request whose answer has `key` (default ref) with the number given for it here. */
  request(name, values, answer, key = "ref") {
    const number = this.nextRef();
    return this.ask(name, { ...values, [key]: number }, answer, number, key);
  }

  /** A request that is answered by `answer` with message[key] = number, or refused by ERROR with that ref. */
  ask(name, values, answer, number, key = "ref") {
    const about = MESSAGE[name].number;
    return this.#ask(name, values, (m) => (m.type === answer && m[key] === number) ||
      (m.type === "error" && m.ref === number && (m.about === about || m.about === 0)));
  }

  #take(bytes) {
    const started = performance.now();
    const message = decode(bytes);
    this.bytesIn += bytes.length;
    this.messagesIn++;
    for (const entry of this.#waiting) {
      if (!entry.matches(message)) continue;
      this.#waiting.delete(entry);
      if (message.type === "error")
        entry.reject(new Refused(message.code, message.text, message.field, message.index));
      else entry.resolve(message);
      break;
    }
    this.#dispatch(message, bytes.length, started);
  }

  #dispatch(message, size, started) {
    switch (message.type) {
      case "ping":
        this.send("pong", { t: message.t });
        break;
      case "goodbye":
        this.#end(new Closed(`the server said goodbye: ${message.text}`, message.code));
        break;
      case "snapshot": case "delta": case "events": case "notice":
        for (const world of this.worlds.values()) world.takeState(message, size, started);
        break;
      case "result": case "durable":
        this.worlds.get(message.world)?.takeResult(message);
        break;
      case "world_info":
        this.worlds.get(message.world)?.takeInfo(message);
        break;
      case "error":
        for (const world of this.worlds.values()) world.takeError(message);
        break;
      default:
    }
  }

  #end(error) {
    if (this.#error !== null) return;
    this.#error = error;
    for (const entry of this.#waiting) entry.reject(error);
    this.#waiting.clear();
    for (const world of this.worlds.values()) world.end(error);
    this.onClosed(error);
  }

  /** [{world, name, mode, tick, bodies}, …] */
  async list() {
    const ref = this.nextRef(), found = [];
    let info = await this.ask("world_list", { ref }, "world_info", ref);
    while (info.world !== 0) {
      found.push({ ...info, mode: MODES[info.mode] });
      if (info.index + 1 >= info.of) break;
      info = await this.#next((m) => m.type === "world_info" && m.ref === ref);
    }
    return found;
  }

  #next(matches) {
    return new Promise((resolve, reject) => { this.#waiting.add({ matches, resolve, reject }); });
  }

  /** A new, paused world: options rate (Hz), gravity, seed, method, running, … */
  async create(name, options = {}) {
    if (typeof options.rate === "number") options = { ...options, rate: [options.rate, 1] };
    await this.request("world_create", { name, options }, "world_info");
    return this.join(name);
  }

  async join(name) {
    const info = await this.request("world_join", { world: 0, name }, "world_info");
    if (!this.worlds.has(info.world)) this.worlds.set(info.world, new World(this, info));
    const world = this.worlds.get(info.world);
    world.takeInfo(info);
    return world;
  }

  /** Round trip in milliseconds. */
  async ping() {
    const t = Math.floor(performance.now() * 1000);
    await this.#ask("ping", { t }, (m) => m.type === "pong" && m.t === t);
    return performance.now() - t / 1000;
  }
}

/** A world the client has joined. */
export class World {
  #batch = 0;
  #request = 0;
  #results = new Map();

  constructor(client, info) {
    this.client = client;
    this.number = info.world;
    this.name = info.name;
    /** Subscriptions by number: {mirror, onFrame, onEvents, onNotice}. */
    this.subscriptions = new Map();
    this.shapeIds = new Map();
    /** Called when the server tells the world's pace or counts anew. */
    this.onInfo = () => {};
    this.takeInfo(info);
  }

  takeInfo(info) {
    this.epoch = info.epoch;
    this.tick = info.tick;
    this.rate = info.rate ? info.rate[0] / info.rate[1] : 0;
    this.method = info.method;
    this.mode = MODES[info.mode];
    this.bodies = info.bodies;
    this.onInfo?.(this);
  }

  // ---- pace ------------------------------------------------------------------------------------

  /** action: pause, resume, speed (value: times real time), lockstep or barrier (value: sessions). */
  async control(action, value = 1) {
    this.takeInfo(await this.client.request("control", { world: this.number, action: CONTROL[action], value },
      "world_info"));
  }

  /** Commands, then n ticks of a world that stands still: {tick, hash, values}. */
  async step(n = 1, commands = []) {
    const request = ++this.#request;
    const message = await this.client.ask("step", { world: this.number, request, from: null, n, commands, want: 1 },
      "stepped", request, "request");
    this.tick = message.tick;
    const values = message.results.length > 0 ? resultOf(message.results[0]).values : [];
    return { tick: message.tick, epoch: message.epoch, hash: message.state_hash, values };
  }

  // ---- input -----------------------------------------------------------------------------------

  /**
   * Sends a batch that is applied at the next tick. @returns {Promise<{batch, tick, values}>} values: ids made
   * @throws {Refused}
   */
  send(...commands) {
    const batch = ++this.#batch;
    return new Promise((resolve, reject) => {
      this.#results.set(batch, { resolve, reject });
      try {
        this.client.send("commands", { world: this.number, batch, at: null, late: 0, list: commands });
      } catch (error) {
        this.#results.delete(batch);
        reject(error);
      }
    });
  }

  takeResult(message) {
    if (message.type === "durable") {
      this.durable = message.tick;
      return;
    }
    for (const item of message.list) {
      const waiting = this.#results.get(item[0]);
      // A batch for a later tick is answered twice; ours are for the next one.
      this.#results.delete(item[0]);
      try {
        waiting?.resolve(resultOf(item));
      } catch (error) {
        waiting.reject(error);
      }
    }
  }

  takeError(message) {
    if (message.about !== MESSAGE.commands.number || !this.#results.has(message.ref)) return;
    this.#results.get(message.ref).reject(new Refused(message.code, message.text, message.field, message.index));
    this.#results.delete(message.ref);
  }

  end(error) {
    for (const { reject } of this.#results.values()) reject(error);
    this.#results.clear();
  }

  /** A batch and its result, whether the world runs or stands (then it is stepped once). */
  apply(...commands) {
    return this.mode === "running" ? this.send(...commands) : this.step(1, commands);
  }

  /** Uploads canonical bytes (once) and returns the shape's id here. Needs crypto.subtle: https, localhost or Node. */
  async shape(data) {
    const name = new Uint8Array(await crypto.subtle.digest("SHA-256", data));
    const key = String(name);
    if (!this.shapeIds.has(key)) {
      const ref = this.client.nextRef(), of = Math.max(1, Math.ceil(data.length / PART));
      const part = (i) => ({
        ref, world: this.number, shape: name, part: i, of, data: data.subarray(i * PART, (i + 1) * PART),
      });
      for (let i = 0; i + 1 < of; i++) this.client.send("shape_upload", part(i));
      await this.client.ask("shape_upload", part(of - 1), "shape_info", ref);
      this.shapeIds.set(key, (await this.apply(command("shape_use", { name }))).values[0]);
    }
    return this.shapeIds.get(key);
  }

  /** Makes a body; fields as of the command, status 2 (dynamic) if none is given. @returns {Promise<number>} its id */
  async spawn(fields) {
    return (await this.apply(command("spawn", { status: 2, position: [0, 0, 0], ...fields }))).values[0];
  }

  // ---- questions -------------------------------------------------------------------------------

  /** [kind, …] as in docs/PROTOCOL.md, "queries". */
  async query(...query) {
    return (await this.client.request("query", { world: this.number, query }, "answer", "id")).answer;
  }

  /** Contacts of a body, or of all: [{a, b, point, normal, separation, impulse}, …] */
  async contacts(body = 0, limit = 1024) {
    return (await this.query(3, body, limit)).map(([a, b, , , point, normal, separation, impulse]) =>
      ({ a, b, point, normal, separation, impulse }));
  }

  /** A body's facts: {id, status, owner, tag, position, …, mass, centre}. */
  async facts(body) {
    const [id, status, flags, owner, tag, position, rotation, velocity, spin, mass, centre] = await this.query(5, body);
    return { id, status, flags, owner, tag, position, rotation, velocity, spin, mass, centre };
  }

  /** Canonical bytes of a shape by its name: 32 bytes, or their hex. */
  async geometry(name) {
    const bytes = typeof name === "string" ? Uint8Array.from(name.match(/../g), (pair) => parseInt(pair, 16)) : name;
    const parts = [];
    for (let part = 0, of = 1; part < of; part++) {
      const answer = await this.query(6, bytes, part);
      of = answer[1];
      parts.push(answer[2].slice());
    }
    const whole = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
    parts.reduce((at, part) => (whole.set(part, at), at + part.length), 0);
    return whole;
  }

  // ---- watching --------------------------------------------------------------------------------

  /**
   * Begins to watch. @returns {{sub, mirror, …}} the mirror is whole from the first onFrame on
   * @param {{fields?, profile?, divisor?, events?, area?, follow?, budget?, onFrame?, onEvents?, onNotice?}} options
   *   onFrame(mirror, bytes, milliseconds to take it in), onEvents(tick, [{kind, a, b, value, point, …}]),
   *   onNotice({skipped, lost, divisor})
   */
  async subscribe({ fields = 31, profile = PROFILE.exact, onFrame, onEvents, onNotice, ...rest } = {}) {
    const sub = this.client.nextRef();
    const subscription = { sub, mirror: new Mirror(fields, profile), onFrame, onEvents, onNotice, bytes: 0, ms: 0 };
    this.subscriptions.set(sub, subscription);
    try {
      await this.client.ask("subscribe", { sub, world: this.number, fields, profile, ...rest }, "snapshot", sub, "sub");
    } catch (error) {
      this.subscriptions.delete(sub);
      throw error;
    }
    return subscription;
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
      subscription.onEvents?.(message.tick, message.list.map(eventOf));
      return;
    }
    if (message.type === "notice") {
      subscription.onNotice?.(message);
      return;
    }
    if (message.part === 0) subscription.bytes = subscription.ms = 0;
    subscription.bytes += size;
    try {
      const whole = mirror.take(message);
      subscription.ms += performance.now() - started;
      if (!whole) return;
    } catch (error) {
      if (!(error instanceof Closed)) throw error;
      this.client.send("resync", { sub: message.sub });
      return;
    }
    this.tick = mirror.tick;
    this.epoch = mirror.epoch;
    this.client.send("ack", { sub: message.sub, epoch: mirror.epoch, tick: mirror.tick });
    subscription.onFrame?.(mirror, subscription.bytes, subscription.ms);
  }
}

function resultOf([batch, tick, code, index, values, field, text]) {
  if (code !== 0) throw new Refused(code, text ?? "", field ?? "", index);
  return { batch, tick, values };
}

function eventOf([kind, a = 0, b = 0, value = 0, fraction = 0, point = [0, 0, 0], normal = [0, 0, 0], child = 0]) {
  return { kind: EVENTS[kind] ?? String(kind), a, b, value, fraction, point, normal, child };
}
