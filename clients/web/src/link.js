/**
 * The connection of the page: connects, joins a world, subscribes. After a loss it resumes the session: the mirror continues, and
 * the picture only pauses. If the session has expired too (the daemon was restarted), it opens a new session and joins again. The
 * fragment of the page's address has the options: #world=NAME&token=TEXT&profile=exact. Browsers do not send it to the server.
 */
import { ALL, ALL_EVENTS, PROFILE, Refused, connect } from "cairn-client";

const FIRST_WAIT_MS = 250;
const LONGEST_WAIT_MS = 5000;
/** Statuses that a later attempt would get again: the page does not try again by itself. */
const FINAL = ["auth", "forbidden", "version"];
/** Period of requests for the list of worlds while the server has none. */
const LIST_MS = 2000;
/** All columns but contacts. */
const FIELDS = ALL;

export class Link {
  #wait = FIRST_WAIT_MS;
  #timer = 0;
  #busy = false;

  /**
   * @param events {joined(client, world, worlds), resumed(world), frame(mirror, bytes, ms, first), notice(notice),
   *   lost(error, ms until the next attempt, or null: none), empty(), sought(where),
   *   unknown(name, instead)}
   */
  constructor(events) {
    this.events = events;
    this.options = new URLSearchParams(location.hash.slice(1));
    this.client = null;
    this.world = null;
    this.mirror = null;
    this.subscription = null;
    this.wanted = this.options.get("world");
    /** Number of resumes, and of new sessions. */
    this.resumes = 0;
    this.joins = 0;
  }

  get address() {
    const url = new URL("ws", location.href);
    url.protocol = location.protocol === "https:" ? "wss:" : "ws:";
    url.hash = "";
    return url.href;
  }

  get connected() { return this.client?.connected ?? false; }

  /** Makes one attempt to connect now. */
  async start() {
    if (this.#busy || this.connected) return;
    clearTimeout(this.#timer);
    this.#busy = true;
    try {
      if (!await this.#resume()) await this.#newSession();
      this.#wait = FIRST_WAIT_MS;
    } catch (error) {
      this.#busy = false;
      this.#again(error);
      return;
    }
    this.#busy = false;
    // The connection may have been lost since.
    if (this.client !== null && !this.connected) this.#again(new Error("the connection has ended"));
  }

  /** Resumes the session. @returns {Promise<boolean>} false if there is no session to resume, or it has expired */
  async #resume() {
    if (!this.client?.welcome?.resume_token || this.subscription === null) return false;
    try {
      await this.client.resume();
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
      this.client.close();
      this.client = null;
      return false;
    }
    this.resumes++;
    this.events.resumed(this.world);
    return true;
  }

  async #newSession() {
    const token = this.options.get("token");
    this.client?.close();
    this.client = null;
    this.subscription = null;
    const client = await connect(this.address, {
      name: "cairn-viewer",
      role: this.options.get("role") ?? undefined,
      token: token ? new TextEncoder().encode(token) : undefined,
      resumes: true,
      onClosed: (error) => { if (this.client === client && !this.#busy) this.#again(error, Math.max(client.retry, 0)); },
    });
    this.client = client;
    this.joins++;
    await this.join(this.wanted);
  }

  /** Subscribes to a world by name; without a name, or if that world has ended, to the first one. */
  async join(name) {
    const worlds = await this.client.list();
    if (worlds.length === 0) {
      this.mirror = null;
      this.world = this.subscription = null;
      this.events.empty();
      this.#later(LIST_MS, () => this.join(name));
      return;
    }
    const chosen = worlds.find((world) => world.name === name) ?? worlds[0];
    if (name !== null && chosen.name !== name) this.events.unknown(name, chosen.name);
    const old = this.subscription, from = this.world;
    this.wanted = chosen.name;
    this.subscription = null;
    if (old && from?.client === this.client) await from.unsubscribe(old).catch(() => {});
    this.world = await this.client.join(chosen.name);
    this.mirror = null;
    this.events.joined(this.client, this.world, worlds);
    this.subscription = await this.world.subscribe({
      fields: FIELDS,
      joints: ["bodies", "frames"],
      particles: ["velocity", "position", "size", "life", "density", "pressure"],
      profile: PROFILE[this.options.get("profile")] ?? PROFILE.sim,
      budget: Number(this.options.get("budget")) || 0,
      events: ALL_EVENTS,
      onFrame: (mirror, bytes, ms) => {
        const first = this.mirror === null;
        this.mirror = mirror;
        this.events.frame(mirror, bytes, ms, first);
      },
      onNotice: (notice) => this.events.notice(notice),
      onSought: (where) => this.events.sought(where),
      onEnd: () => this.#ended(),
    });
  }

  /** The joined world has ended: joins another one. */
  #ended() {
    this.subscription = null;
    this.#later(FIRST_WAIT_MS, () => this.join(null));
  }

  #later(ms, what) {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => { if (this.connected) what().catch((error) => this.#again(error)); }, ms);
  }

  #again(error, least = 0) {
    clearTimeout(this.#timer);
    if (FINAL.includes(error.status)) {
      this.events.lost(error, null);
      return;
    }
    const wait = Math.max(this.#wait, least);
    this.#wait = Math.min(this.#wait * 2, LONGEST_WAIT_MS);
    this.#timer = setTimeout(() => {
      // The connection is open, but its world could not be joined.
      if (this.connected) this.join(this.wanted).catch((wrong) => this.#again(wrong));
      else this.start();
    }, wait);
    this.events.lost(error, wait);
  }
}
