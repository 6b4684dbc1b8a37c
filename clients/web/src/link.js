/**
 * The connection, kept up: connects, joins a world, subscribes; when the connection ends, tries again until it is there.
 * The page's address says where: #world=NAME&token=TEXT&profile=exact in the fragment, which no server is sent.
 */
import { ALL, ALL_EVENTS, PROFILE, connect } from "cairn-client";

const FIRST_WAIT_MS = 250;
const LONGEST_WAIT_MS = 5000;
/** All columns; the world's whole. */
const FIELDS = ALL;

export class Link {
  /** @param events {joined(client, world, worlds), frame(mirror, bytes, ms), notice(notice), lost(error, waitMs)} */
  constructor(events) {
    this.events = events;
    this.options = new URLSearchParams(location.hash.slice(1));
    this.client = null;
    this.world = null;
    this.mirror = null;
    this.wanted = this.options.get("world");
  }

  #wait = FIRST_WAIT_MS;

  get address() {
    const url = new URL("ws", location.href);
    url.protocol = location.protocol === "https:" ? "wss:" : "ws:";
    url.hash = "";
    return url.href;
  }

  async start() {
    try {
      const token = this.options.get("token");
      this.client = await connect(this.address, {
        name: "cairn-viewer",
        role: this.options.get("role") ?? undefined,
        token: token ? new TextEncoder().encode(token) : undefined,
        onClosed: (error) => this.#lost(error),
      });
      this.#wait = FIRST_WAIT_MS;
      await this.join(this.wanted);
    } catch (error) {
      this.#lost(error);
    }
  }

  /** Watches a world by name; without a name, the first there is. */
  async join(name) {
    const worlds = await this.client.list();
    if (worlds.length === 0) throw new Error("the server has no world");
    const chosen = worlds.find((world) => world.name === name) ?? worlds[0];
    const old = this.subscription, from = this.world;
    this.wanted = chosen.name;
    this.world = await this.client.join(chosen.name);
    if (old && from?.client === this.client) await from.unsubscribe(old);
    this.mirror = null;
    this.events.joined(this.client, this.world, worlds);
    this.subscription = await this.world.subscribe({
      fields: FIELDS,
      profile: PROFILE[this.options.get("profile")] ?? PROFILE.sim,
      events: ALL_EVENTS,
      onFrame: (mirror, bytes, ms) => {
        const first = this.mirror === null;
        this.mirror = mirror;
        this.events.frame(mirror, bytes, ms, first);
      },
      onNotice: (notice) => this.events.notice(notice),
    });
  }

  #lost(error) {
    if (this.client === null && this.#retrying) return;
    this.client = null;
    this.world = null;
    this.subscription = null;
    const wait = this.#wait;
    this.#wait = Math.min(this.#wait * 2, LONGEST_WAIT_MS);
    this.#retrying = true;
    this.events.lost(error, wait);
    setTimeout(() => { this.#retrying = false; this.start(); }, wait);
  }

  #retrying = false;
}
