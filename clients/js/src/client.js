/**
 * A session. Every request is a promise; messages that answer no request go to `on…` callbacks. The client computes no
 * physics: it sends commands and stores mirrors of the state.
 *
 * A session may outlive its connection (options `resumes`, `reconnects`; docs/PROTOCOL.md, "coming back"). `resume` continues
 * the session on a new connection, with its mirrors, its batch numbers and its bodies. If the session has expired, `rejoin`
 * opens a new one that joins the same worlds and repeats the subscriptions. `comeBack` tries `resume`, then `rejoin`, until one
 * succeeds.
 */
import { checkFinite } from "./numbers.js";
import { MODES } from "./commands.js";
import { stepWorlds } from "./group.js";
import { MESSAGE, STATUS } from "./manifest.js";
import { Closed, Refused, decode, encode } from "./wire.js";
import { World } from "./world.js";

export { ACTION, ALL_EVENTS, EVENTS, MODES, command } from "./commands.js";
export { World } from "./world.js";

/** Redirects followed in a row; more end the attempt, because servers may redirect in a circle. */
const REDIRECTS_MAX = 4;
/** Statuses of a session that cannot be resumed: expired, or never resumable. */
const EXPIRED = 35;
/** Statuses that a later attempt would get again: `comeBack` stops at these. */
const FINAL = ["auth", "forbidden", "version", "unsupported", "malformed"];

/** Of an URDF, by the number of SCENE_OPEN. */
const BASES = [null, "fixed", "floating"];

const pause = (ms) => new Promise((resolve) => { setTimeout(resolve, ms); });

/**
 * Whether a redirect may be followed: to the same kind of address, from ws: to wss:, or from unix: to tcp:. Never from wss: to
 * ws:, because a redirect must not remove the encryption.
 */
export function mayFollow(from, to) {
  const kind = (address) => /^(ws|wss|tcp|tls|unix)(?=:)/.exec(address)?.[0] ?? "tcp";
  const allowed = { ws: ["ws", "wss"], wss: ["wss"], tcp: ["tcp"], unix: ["unix", "tcp"] };
  return to !== "" && (allowed[kind(from)] ?? []).includes(kind(to));
}

export class Client {
  /**
   * Opens a session over a transport that `open(address, events)` connects; follows redirects.
   * @param {(address: string, events: object) => Promise<object>} open openTcp or openWebSocket
   * @param {string} address
   * @param {object} options
   * @param {string} [options.role] a lower role than the connection would get
   * @param {string | Uint8Array | (() => string | Uint8Array | Promise<string | Uint8Array>)} [options.token] a connect token; a function is called before
   *   each new session, because a token opens only one
   * @param {string} [options.name] the client's name in HELLO
   * @param {boolean} [options.resumes] after the connection is lost the server keeps the session for 30 s, for `resume`
   * @param {boolean | object} [options.reconnects] as `resumes`, and the client calls `comeBack` itself, with this object as its
   *   options
   * @param {(error: Closed) => void} [options.onClosed] called once for each connection that ends
   * @param {(how: "resumed" | "joined") => void} [options.onBack] called after a reconnect by `reconnects`
   * @returns {Promise<Client>} rejects with Refused (auth, forbidden, …) or Closed
   */
  static async over(open, address, options = {}) {
    const client = new Client(open, address, options);
    await client.#greet();
    return client;
  }

  #open;
  #options;
  #transport = null;
  #ref = 0;
  #waiting = new Set();
  #error = new Closed("the connection is not open yet");
  #greeted = false;
  #leaving = false;

  constructor(open, address, options) {
    this.#open = open;
    this.#options = { name: "cairn-js", resumes: options.reconnects ?? false, onClosed() {}, onBack() {}, ...options };
    /** The server's address; the redirect of the last GOODBYE ("": none) and its delay in milliseconds. */
    this.address = address;
    this.redirect = "";
    this.retry = 0;
    /** Joined worlds by number. */
    this.worlds = new Map();
    this.bytesIn = 0;
    this.messagesIn = 0;
  }

  /** Whether the connection is open. */
  get connected() { return this.#error === null && this.#greeted; }

  /** Ends the session; it cannot be resumed. */
  close() {
    this.#leaving = true;
    if (this.connected && this.welcome?.resume_token) this.send("goodbye", { code: 0 });
    this.#transport?.close();
    if (!this.connected) this.#rejectPending(this.#error);
  }

  // ---- connecting and reconnecting ---------------------------------------------------------------

  /** Replaces the transport. Callbacks of the old one are ignored from here on, because its `line` is off. */
  async #connect(address) {
    const line = { on: true };
    this.#line.on = false;
    this.#line = line;
    this.#greeted = false;
    this.#error ??= new Closed("the connection was replaced by a new one");
    this.#drop();
    this.#transport?.close();
    this.#transport = null;
    const transport = await this.#open(address, {
      content: (bytes) => { if (line.on) this.#take(bytes); },
      closed: (error) => { if (line.on) this.#end(error); },
    });
    if (!line.on) {
      transport.close();
      throw new Closed("the connection was closed by this client");
    }
    this.#transport = transport;
    this.#error = null;
  }

  #line = { on: false };

  /** Sends HELLO with the fields of `more` and waits for WELCOME. */
  async #hello(more) {
    const caps = ["ack", "exact", ...(this.#options.resumes ? ["resume"] : [])];
    const hello = { protocol: [1, 0], client: this.#options.name, caps, ...more };
    if (this.#options.role) hello.role = this.#options.role;
    this.welcome = await this.#ask("hello", hello, (m) => m.type === "welcome" || m.type === "error");
  }

  #welcomed(welcome) {
    this.welcome = welcome;
    this.session = welcome.session;
    this.role = welcome.role;
    this.#greeted = true;
  }

  async #newHello() {
    let { token } = this.#options;
    if (typeof token === "function") token = await token();
    if (typeof token === "string") token = new TextEncoder().encode(token);
    return token ? { token } : {};
  }

  /** The address to connect to: the redirect of the last GOODBYE, else the old address. */
  get #target() { return mayFollow(this.address, this.redirect) ? this.redirect : this.address; }

  /** Connects and sends HELLO with the fields that `fieldsOf()` returns; follows the redirect if GOODBYE is the answer. */
  async #greet(fieldsOf = () => this.#newHello()) {
    for (let redirects = 0; ; redirects++) {
      const target = this.#target;
      this.redirect = "";
      try {
        await this.#connect(target);
        await this.#hello(await fieldsOf());
        this.address = target;
        return;
      } catch (error) {
        if (error instanceof Refused) this.address = target;
        if (error instanceof Refused || !mayFollow(this.address, this.redirect)) throw error;
        if (redirects === REDIRECTS_MAX) {
          this.redirect = "";
          throw new Closed(`more than ${REDIRECTS_MAX} redirects in a row`, "limit");
        }
      }
    }
  }

  /**
   * One attempt to resume the session after its connection was lost, at the address of GOODBYE's redirect or at the old one.
   * Mirrors continue from their last frame, bodies stay owned, batches and STEPs without an answer are sent again.
   * @throws {Refused} "expired": the server no longer has the session; call `rejoin`
   * @throws {Closed} no connection
   */
  async resume() {
    const token = this.welcome?.resume_token;
    if (!token || this.#leaving) throw new Refused(EXPIRED, "no resumable session; connect with resumes, or call rejoin");
    const watched = [...this.worlds.values()].flatMap((world) => [...world.subscriptions.values()]);
    const applied = watched.filter(({ mirror }) => mirror.whole)
      .map(({ sub, mirror, events }) => [sub, mirror.epoch, mirror.tick, events, mirror.edit]);
    try {
      await this.#greet(() => ({ resume: token, applied }));
    } catch (error) {
      if (error.status === "expired") this.welcome = { ...this.welcome, resume_token: null };
      throw error;
    }
    for (const world of this.worlds.values()) world.resendPending();
  }

  /**
   * One attempt to open a new session that joins the worlds of the old one and repeats its subscriptions. The World and
   * subscription objects stay the same; epochs and ids may differ. Batches without an answer are rejected.
   * @returns {Promise<World[]>} worlds that no longer exist
   */
  async rejoin() {
    this.#rejectPending(this.#error ?? new Closed("the client has left the session"));
    // After a refused resume the connection is still open: the new session may use it.
    if (this.#error === null && !this.#greeted) await this.#hello(await this.#newHello());
    else await this.#greet();
    const worlds = [...this.worlds.values()], gone = [];
    this.worlds.clear();
    // Until a world has its new number it is stored under a number that no world has.
    worlds.forEach((world, i) => this.worlds.set(-1 - i, world));
    for (const [i, world] of worlds.entries()) {
      try {
        const info = await this.request("world_join", { world: 0, name: world.name }, "world_info");
        this.worlds.set(info.world, world);
        this.worlds.delete(-1 - i);
        await world.rejoin(info);
      } catch (error) {
        if (!(error instanceof Refused)) throw error;
        this.worlds.delete(-1 - i);
        for (const subscription of world.subscriptions.values()) subscription.onEnd?.(error);
        gone.push(world);
      }
    }
    return gone;
  }

  /**
   * Reconnects: resumes the session, or calls `rejoin` if it has expired. The wait doubles after each failed attempt, from
   * `firstWait` to `longestWait` milliseconds.
   * @param {{tries?: number, firstWait?: number, longestWait?: number, onWait?: (error: Error, ms: number) => void}} options
   * @returns {Promise<"resumed" | "joined">}
   * @throws the last error, after `tries` attempts, or at once if another attempt would fail too (auth, version, …)
   */
  async comeBack({ tries = Infinity, firstWait = 250, longestWait = 5000, onWait = () => {} } = {}) {
    let wait = firstWait, error = this.#error;
    for (let n = 0; n < tries && !this.#leaving && !FINAL.includes(error?.status); n++) {
      const ms = Math.max(n === 0 ? 0 : wait * (0.75 + Math.random() / 2), this.retry);
      this.retry = 0;
      if (n > 0) wait = Math.min(wait * 2, longestWait);
      onWait(error, ms);
      await pause(ms);
      if (this.#leaving) break;
      try {
        if (this.welcome?.resume_token) {
          try {
            await this.resume();
            return "resumed";
          } catch (refused) {
            if (!(refused instanceof Refused)) throw refused;
          }
        }
        await this.rejoin();
        return "joined";
      } catch (failed) {
        error = failed;
      }
    }
    throw error ?? new Closed("the client has left the session");
  }

  // ---- requests ----------------------------------------------------------------------------------

  /**
   * Steps many worlds, which are joined and not running, by one message.
   * @param {World[]} worlds
   * @param {object} options
   * @param {object[]} [options.actions] commands, the same for each world, with ACTION in the place of numbers
   * @param {number[] | Float64Array} [options.values] these numbers, by world, step, command
   * @param {object[]} [options.observe] parts of `observe`
   * @param {number} [options.ticks] after each action; 1
   * @param {number} [options.steps] actions one after the other; 1
   * @param {object[][]} [options.commands] of each world its own commands before the first action
   * @param {boolean} [options.hashes] with state hashes
   * @returns {Promise<{worlds, width, observations}>} of each world {world, epoch, tick, edit, steps, tickHash, hash, values,
   *   error}, error a Refused or null; observations: a Float64Array of `width` numbers by world and step
   * @throws {Refused} the message is refused as a whole
   */
  stepWorlds(worlds, options) { return stepWorlds(this, worlds, options); }

  /** Sends a message that has no answer, or whose answer comes as a callback. */
  send(name, values) {
    if (this.#error !== null) throw this.#error;
    const message = encode(name, values), most = this.welcome?.limits?.frame_up ?? 0;
    if (name !== "hello" && most > 0 && message.length > most)
      throw new RangeError(`the message ${name} takes ${message.length} bytes, and the server takes at most ${most} (frame_up) from this session: send its contents in several messages`);
    this.#transport.send(message);
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

  /** Sends a request with a new number in its field `key` (default ref); the answer has the same number there. */
  request(name, values, answer, key = "ref") {
    const number = this.nextRef();
    return this.ask(name, { ...values, [key]: number }, answer, number, key);
  }

  /** Sends a request; its answer is of type `answer` with message[key] = number, its refusal an ERROR with that ref. */
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
    if (message.type === "welcome") {
      // A copy, because the token refers to bytes of the transport and is needed later.
      this.#welcomed({ ...message, resume_token: message.resume_token?.slice() ?? null });
    }
    for (const entry of this.#waiting) {
      if (!entry.matches(message)) continue;
      this.#waiting.delete(entry);
      if (message.type === "error")
        entry.reject(new Refused(message.code, message.text, message.field, message.index));
      else entry.resolve(message.type === "welcome" ? this.welcome : message);
      if (message.type === "error") return;
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
        this.retry = message.retry_ms;
        this.redirect = message.redirect;
        this.#end(new Closed(`the server ended the connection: ${message.text}`, STATUS[message.code]?.[0] ?? null));
        break;
      case "snapshot": case "delta": case "rows": case "blocks": case "events": case "notice":
        for (const world of this.worlds.values()) world.takeState(message, size, started);
        break;
      case "sought":
        for (const world of this.worlds.values()) world.takeSought(message);
        break;
      case "result": case "durable":
        this.worlds.get(message.world)?.takeResult(message);
        break;
      case "stepped":
        this.worlds.get(message.world)?.takeStepped(message);
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

  /** The connection has ended. A session that may be resumed keeps its pending batches and STEPs. */
  #end(error) {
    if (this.#error !== null) return;
    this.#error = error;
    this.#line.on = false;
    this.#transport?.close();
    this.#drop();
    const established = this.#greeted;
    if (!established) return;
    this.#greeted = false;
    if (!this.welcome.resume_token || this.#leaving) this.#rejectPending(error);
    this.#options.onClosed(error);
    if (!this.#options.reconnects || this.#leaving) return;
    this.comeBack(this.#options.reconnects === true ? {} : this.#options.reconnects)
      .then((how) => this.#options.onBack(how), (last) => { this.#rejectPending(last); this.#options.onClosed(last); });
  }

  /** Rejects the requests that are not sent again after a resume: all but batches and STEPs. */
  #drop() {
    for (const entry of this.#waiting) entry.reject(this.#error);
    this.#waiting.clear();
  }

  /** Rejects batches and STEPs without an answer, because none will come. */
  #rejectPending(error) {
    for (const world of this.worlds.values()) world.end(error);
  }

  // ---- worlds ------------------------------------------------------------------------------------

  /** [{world, name, mode, tick, bodies}, …] */
  async list() {
    const ref = this.nextRef(), found = [];
    // One message per world; several may arrive before this function continues, so the callback collects them.
    await this.#ask("world_list", { ref }, (m) => {
      if (m.ref !== ref || (m.type !== "world_info" && m.type !== "error")) return false;
      if (m.type === "error") return true;
      if (m.world !== 0) found.push({ ...m, mode: MODES[m.mode] });
      return m.world === 0 || m.index + 1 >= m.of;
    });
    return found;
  }

  /** The server's facts and counters, as an object. `what`: "" for all, or one of server, worlds, refused, quotas. */
  async info(what = "") {
    return (await this.request("info", { what }, "reply")).value;
  }

  /** A new, paused world: options rate (Hz), gravity, seed, method, running, … @throws {BadNumber} */
  async create(name, options = {}) {
    for (const [option, value] of Object.entries(options))
      for (const number of Array.isArray(value) ? value : [value]) checkFinite(option, number);
    if (typeof options.rate === "number") options = { ...options, rate: [options.rate, 1] };
    await this.request("world_create", { name, options }, "world_info");
    return this.join(name);
  }

  /** The scenes of the server's folder: [{ name, bytes, title }, …]. @throws {Refused} "unsupported": there is none */
  async scenes() {
    const found = [];
    for (;;) {
      const after = found.length > 0 ? found[found.length - 1].name : "";
      const { value: page } = await this.request("scene_list", { after }, "reply");
      if (page.length === 0) return found;
      found.push(...page.map(([name, bytes, title]) => ({ name, bytes, title })));
    }
  }

  /**
   * A new world `name` of a scene of the server's folder, or of `text` (Uint8Array: a scene or robot file), joined. `world.notes`:
   * what a robot file asks for and does not get. @throws {Refused} with file, line and reason
   */
  async openScene(scene, name = scene.replace(/^.*\/|\.[^.]*$/gu, ""), { text, variables = {}, running = true, base = null, balance = false,
    jointLinkShare = 0 } = {}) {
    if (!BASES.includes(base)) throw new RangeError(`base is ${base}: it must be null, "fixed" or "floating"`);
    const lets = Object.entries(variables).map(([variable, value]) => `${variable}=${value}`);
    const fields = { name, scene, text: text ?? new Uint8Array(0), lets, base: BASES.indexOf(base),
      balance: balance ? 1 : 0, running: running ? 1 : 0, joint_link_share: jointLinkShare };
    const { notes } = await this.request("scene_open", fields, "world_info");
    const world = await this.join(name);
    world.notes = notes ? notes.split("\n").filter(Boolean) : [];
    return world;
  }

  /** Joins a world by name. @throws {Refused} "unknown_world" */
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
