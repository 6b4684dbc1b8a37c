/**
 * A page that plays by itself: what follows in the joined world, or in its past, as one HTML file that needs no server. The file is
 * player.html with a film in it: the frames of a subscription of its own as the server sent them, the shapes they name, colours and visuals.
 */
import { encode } from "@msgpack/msgpack";
import { PROFILE } from "cairn-client";
import { save } from "./save.js";

/** Bytes of frames at which a film ends by itself. */
const BYTES_MAX = 24 << 20;
/** What a film shows, and what it leaves out. */
const FIELDS = ["position", "rotation", "status", "shapes"], JOINTS = ["bodies", "frames"];
export const LEFT_OUT = "contacts, forces, force fields, particles and numbers of bodies";
/** The element of player.html that gets the film. */
const PLACE = '<script type="text/plain" id="film">';

/** A film as text: MessagePack, packed by gzip, in base64. */
async function pack(film) {
  const packed = await new Response(new Blob([encode(film)]).stream().pipeThrough(new CompressionStream("gzip"))).blob();
  return new Promise((resolve, reject) => {
    const reader = new FileReader();
    reader.onload = () => resolve(reader.result.slice(reader.result.indexOf(",") + 1));
    reader.onerror = () => reject(reader.error);
    reader.readAsDataURL(packed);
  });
}

export class Film {
  #take = null;

  /** @param parts {link, stage, timeline, button, note(text, ms), report(error)} */
  constructor(parts) { Object.assign(this, parts); }

  /** Frames taken so far. */
  get frames() { return this.#take?.frames.length ?? 0; }

  /** Begins a film, or ends it and saves it. In the past it is taken from the tick shown to the end of what is shown. */
  toggle() { return this.#take === null ? this.#begin() : this.end(); }

  async #begin() {
    const { world } = this.link, { where, source, speed } = this.timeline;
    if (world === null) return;
    const take = { world, past: where !== null, frames: [], parts: [], bytes: 0, shapes: new Map(), colours: new Map(), visuals: new Map() };
    this.#take = take;
    this.button.setAttribute("aria-pressed", true);
    try {
      await this.#addLooks(take);
      take.subscription = await world.subscribe({
        fields: FIELDS, joints: JOINTS, profile: PROFILE.view, hash_every: 0,
        onMessage: (message, past) => this.#keep(take, message, past),
        onFrame: (mirror) => this.#frame(take, mirror),
        onSought: () => this.end(),
        onEnd: () => this.end(),
      });
      if (take.past) await world.seek(take.subscription, where.tick, { speed, epoch: where.epoch, recording: source });
    } catch (error) {
      this.#drop(take);
      this.report(error);
    }
  }

  /** A server without LOOKS has no colours and no visuals. */
  async #addLooks(take) {
    const given = await take.world.colours().catch(() => new Map());
    for (const [id, colour] of given) take.colours.set(id, colour);
    const visuals = await take.world.visuals().catch(() => new Map());
    for (const [id, list] of visuals) take.visuals.set(id, list);
    for (const { shape } of [...visuals.values()].flat()) this.#addShape(take, shape);
  }

  #keep(take, message, past) {
    if (past !== take.past) return;
    // A snapshot replaces a frame that did not fit.
    if (message.type === "snapshot" && message.part === 0) take.parts = [];
    take.parts.push(encode(message));
  }

  #frame(take, mirror) {
    if (take !== this.#take || take.parts.length === 0) return;
    const { tick, epoch } = mirror;
    take.frames.push([tick, epoch, take.parts]);
    take.bytes += take.parts.reduce((sum, part) => sum + part.length, 0);
    take.parts = [];
    for (const slot of mirror.changed)
      for (const { shape } of mirror.shapes[slot] ?? []) this.#addShape(take, shape);
    if (take.bytes > BYTES_MAX) this.end(`It ended by itself at ${BYTES_MAX >> 20} MiB.`);
  }

  #addShape(take, shape) {
    if (!take.shapes.has(shape)) take.shapes.set(shape, take.world.geometry(shape).catch(() => null));
  }

  #drop(take) {
    if (this.#take === take) this.#take = null;
    this.button.setAttribute("aria-pressed", false);
    if (take.subscription) take.world.unsubscribe(take.subscription).catch(() => {}); // the connection may be lost
  }

  /** Ends a film that is being taken and saves it. */
  async end(why = "") {
    const take = this.#take;
    if (take === null) return;
    this.#drop(take);
    try {
      if (take.frames.length === 0) throw new Error("No frame has arrived, so there is nothing to play.");
      const name = `${take.world.name}-${take.frames[0][0]}.html`, page = await this.#page(take);
      save(name, page);
      this.note(`${name}: ${take.frames.length} frames, ${(page.size / 1e6).toFixed(1)} MB; it leaves out ${LEFT_OUT}. ${why}`, 10000);
    } catch (error) {
      this.report(error);
    }
  }

  async #page(take) {
    await this.#addLooks(take);
    const answer = await fetch("player.html");
    if (!answer.ok) throw new Error("The server has no player.html; build the viewer again (make viewer).");
    const html = await answer.text(), at = html.indexOf(PLACE) + PLACE.length;
    const shapes = (await Promise.all([...take.shapes].map(async ([name, bytes]) => [name, await bytes]))).filter(([, bytes]) => bytes !== null);
    const { name, rate, method } = take.world, [camera, target] = [this.stage.camera.position, this.stage.controls.target].map((p) => p.toArray());
    const text = await pack({ version: 1, world: name, rate, method, frames: take.frames, shapes, colours: [...take.colours], visuals: [...take.visuals], camera, target });
    return new Blob([html.slice(0, at), text, html.slice(at)], { type: "text/html" });
  }
}
