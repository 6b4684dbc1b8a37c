/** The page that plays a film by itself (film.js makes it): decodes the frames as the viewer does and draws them with its parts. */
import { decode } from "@msgpack/msgpack";
import { COLUMN, JOINT_COLUMN, Mirror, PROFILE } from "cairn-client";
import { Crowd } from "./crowd.js";
import { LEFT_OUT } from "./film.js";
import { JointLines } from "./joints.js";
import { keyOf } from "./keys.js";
import { Playback } from "./playback.js";
import { Pulse } from "./pulse.js";
import { Stage } from "./stage.js";

const FIELDS = COLUMN.position | COLUMN.rotation | COLUMN.status | COLUMN.shapes, JOINTS = JOINT_COLUMN.bodies | JOINT_COLUMN.frames;
/** The shadow map is fitted again after so much of the film, s. */
const FIT_S = 0.5;
const element = (id) => document.getElementById(id);

async function unpack(text) {
  const packed = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
  const bytes = await new Response(new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"))).arrayBuffer();
  const film = decode(new Uint8Array(bytes));
  if (film.version !== 1) throw new Error(`This page plays films of version 1; its film has version ${film.version}.`);
  return film;
}

/** Seconds from the film's beginning to each of its frames. What was made anew (another epoch) takes one tick. */
function timesOf({ frames, rate }) {
  let time = 0;
  return frames.map(([tick, epoch], i) => {
    if (i === 0) return 0;
    const [before, old] = frames[i - 1];
    time += (epoch === old ? Math.max(Math.abs(tick - before), 1) : 1) / (rate || 60);
    return time;
  });
}

class Player {
  #next = 0;
  #now = 0;
  #fitted = -Infinity;
  #framed = false;

  constructor(film, stage) {
    this.film = film;
    this.stage = stage;
    this.times = timesOf(film);
    const shapes = new Map(film.shapes);
    this.crowd = new Crowd(stage.scene, async (name) => shapes.get(name) ?? Promise.reject(new Error(`no shape ${name}`)));
    this.joints = new JointLines(stage.scene);
    this.playback = new Playback();
    this.playback.direct = true;
    this.time = 0;
    this.playing = true;
    this.speed = 1;
    this.#rewind();
    this.visuals = new Map(this.film.visuals ?? []); // films of older pages have none
    this.#take();
    this.pulse = new Pulse((now) => this.#picture(now));
  }

  get length() { return this.times.at(-1); }
  /** The tick shown. */
  get tick() { return this.mirror.tick; }

  #rewind() {
    this.mirror = new Mirror(FIELDS, PROFILE.view, JOINTS);
    this.#next = 0;
    this.playback.clear(this.film.rate);
  }

  /** Applies the next frame. */
  #take() {
    const [, , parts] = this.film.frames[this.#next++], { mirror, crowd } = this;
    for (const part of parts) mirror.take(decode(part));
    crowd.follow(mirror, this.#next === 1 || mirror.changed.length === mirror.count);
    crowd.colour(new Map(this.film.colours));
    crowd.dress(this.visuals, mirror);
    this.playback.push(mirror, performance.now());
  }

  /** Shows the film at a time, s: frames are differences, so an earlier one is reached from the beginning. */
  seek(time) {
    this.time = Math.min(Math.max(time, 0), this.length);
    if (this.time < this.times[this.#next - 1]) this.#rewind();
    while (this.#next < this.times.length && (this.#next === 0 || this.times[this.#next] <= this.time)) this.#take();
    this.pulse?.wake();
  }

  play(on) {
    if (on && this.time >= this.length) this.seek(0);
    this.playing = on;
    element("play").textContent = on ? "Pause" : "Play";
    this.pulse.wake();
  }

  look() {
    const boxes = this.crowd.subject(this.mirror);
    if (boxes.length > 0) this.stage.frame(boxes, this.crowd.planar);
  }

  #fit() {
    if (Math.abs(this.time - this.#fitted) < FIT_S) return;
    this.#fitted = this.time;
    const box = this.crowd.bounds(this.mirror, { statics: true });
    if (box !== null) this.stage.fitShadows(box);
  }

  #picture(now) {
    const seconds = Math.min((now - this.#now) / 1000, 0.1);
    this.#now = now;
    const { crowd, stage, mirror, joints } = this;
    if (this.playing && this.#framed) {
      this.seek(this.time + seconds * this.speed);
      if (this.time >= this.length) this.play(false);
    }
    const moment = this.playback.at(now);
    if (crowd.complete && !this.#framed) {
      this.#framed = true;
      this.look();
      this.stage.look(this.film.camera, this.film.target); // as it was taken; the key R fits the view to this window
      stage.ground = crowd.ground;
    }
    const state = [crowd.version, stage.version, joints.on, this.#next].join();
    if (state === this.drawn && !stage.move()) return this.playing || stage.refine();
    this.drawn = state;
    this.#fit();
    crowd.draw(mirror, moment, stage.metresPerPixel);
    joints.draw(crowd, mirror, moment, stage.camera);
    stage.render();
    element("time").value = this.time;
    element("where").textContent = `${this.time.toFixed(1)} of ${this.length.toFixed(1)} s, tick ${this.tick}, ${mirror.count} bodies`;
    return true;
  }
}

function connect(player) {
  const { film, pulse } = player;
  document.title = `${film.world} · Cairn`;
  element("name").textContent = film.world;
  element("facts").textContent = `${film.method}, ${film.rate} ticks a second. Not in this file: ${LEFT_OUT}.`;
  Object.assign(element("time"), { max: player.length, step: "any" });
  element("time").oninput = ({ target }) => {
    player.play(false);
    player.seek(Number(target.value));
  };
  element("play").onclick = () => player.play(!player.playing);
  element("speed").onchange = ({ target }) => { player.speed = Number(target.value); };
  element("joints").onchange = ({ target }) => { player.joints.on = target.checked; };
  element("reset").onclick = () => player.look();
  const keys = { " ": () => player.play(!player.playing), r: () => player.look(), j: () => element("joints").click(),
    h: () => document.body.classList.toggle("bare") };
  window.addEventListener("keydown", (event) => {
    const own = ["BUTTON", "SELECT", "INPUT"].includes(event.target.tagName), action = keys[keyOf(event)];
    if (own || action === undefined || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    action();
  });
  pulse.wake();
}

try {
  const film = await unpack(element("film").textContent.trim());
  window.player = new Player(film, new Stage(element("stage")));
  connect(window.player);
} catch (error) {
  element("unavailable").hidden = false;
  element("unavailable").append(` (${error.message})`);
  document.body.classList.add("bare");
  throw error;
}
