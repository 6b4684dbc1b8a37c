/** The viewer's page: who does what when. */
import { Vector3 } from "three";
import { Contacts } from "./contacts.js";
import { Crowd } from "./crowd.js";
import { Hand } from "./hand.js";
import { Inspector } from "./inspector.js";
import { Link } from "./link.js";
import { Playback } from "./playback.js";
import { Stage } from "./stage.js";
import { Statistics } from "./statistics.js";

const element = (id) => document.getElementById(id);
const stage = new Stage(element("stage"));
const playback = new Playback();
const statistics = new Statistics(element("statistics").querySelector("dl"));
const inspector = new Inspector(element("inspector"));
const contacts = new Contacts(stage.scene);
const crowd = new Crowd(stage.scene, (name) => link.world.geometry(name));
let moment = null;
let following = false;

// ---- the connection --------------------------------------------------------------------------------

function say(text, state) {
  element("state").textContent = text;
  element("state").dataset.state = state;
}

const mayCommand = () => ["controller", "admin"].includes(link.client?.role);

function showPace(world) {
  const running = world.mode === "running", own = mayCommand();
  document.body.classList.toggle("observer", !own);
  element("pause").textContent = running ? "Pause" : "Resume";
  element("pause").disabled = element("speed").disabled = !own;
  element("step").disabled = !own || running;
  say(`${link.client.role}, ${world.method}, ${world.mode}`, world.mode);
}

function joined(client, world, worlds) {
  crowd.clear();
  playback.clear(world.rate);
  moment = null;
  choose(0);
  element("world").replaceChildren(...worlds.map(({ name }) => new Option(name, name, false, name === world.name)));
  world.onInfo = showPace;
  showPace(world);
  contacts.watch(world);
}

/** Where most bodies that may move are, for the first look: a tenth at each end does not count. */
function lookAt(mirror) {
  const slots = [...mirror.slots.values()], moving = slots.filter((slot) => mirror.status[slot * 2] !== 1);
  const shown = moving.length > 0 ? moving : slots;
  if (shown.length === 0) return;
  const ends = [0, 1, 2].map((axis) => {
    const values = shown.map((slot) => mirror.position[slot * 3 + axis]).sort((a, b) => a - b);
    const cut = Math.floor(values.length / 10);
    return [values[cut], values[values.length - 1 - cut]];
  });
  stage.frame(new Vector3(...ends.map(([low]) => low)), new Vector3(...ends.map(([, high]) => high)));
}

function frame(mirror, bytes, ms, first) {
  crowd.follow(mirror, first || mirror.changed.length === mirror.count);
  playback.push(mirror, performance.now());
  statistics.frame(bytes, ms);
  if (first) lookAt(mirror);
}

const link = new Link({
  joined,
  frame,
  notice: (notice) => statistics.notice(notice),
  lost: (error, wait) => say(`${error.message}; again in ${(wait / 1000).toFixed(1)} s`, "lost"),
});

// ---- what the user does ------------------------------------------------------------------------------

const report = (error) => say(error.message, "lost");

function choose(id) {
  crowd.chosen = id;
  inspector.choose(id);
  following = following && id !== 0;
  element("follow").setAttribute("aria-pressed", following);
}

const hand = new Hand({
  stage, crowd, choose, report, mayCommand,
  world: () => link.world,
  mirror: () => (moment === null ? null : link.mirror),
  moment: () => moment,
});

const pace = (action, value) => link.world?.control(action, value).then(() => showPace(link.world)).catch(report);
const pauseOrResume = () => pace(link.world?.mode === "running" ? "pause" : "resume");
const step = () => link.world?.step(1).catch(report);

element("pause").onclick = pauseOrResume;
element("step").onclick = step;
element("speed").onchange = ({ target }) => pace("speed", Number(target.value));
element("contacts").onchange = ({ target }) => { contacts.on = target.checked; };
element("shadows").onchange = ({ target }) => { stage.shadows = target.checked; };
element("world").onchange = ({ target }) => link.join(target.value).catch(report);
element("push").onclick = () => hand.push(inspector.id);
element("leave").onclick = () => choose(0);
element("follow").onclick = () => {
  following = !following;
  element("follow").setAttribute("aria-pressed", following);
};
window.addEventListener("keydown", (event) => {
  if (["INPUT", "SELECT", "BUTTON"].includes(event.target.tagName)) return;
  if (event.key === " " && mayCommand()) pauseOrResume();
  else if (event.key === "." && mayCommand()) step();
  else if (event.key === "Escape") choose(0);
  else return;
  event.preventDefault();
});

// ---- pictures ------------------------------------------------------------------------------------------

function picture() {
  requestAnimationFrame(picture);
  const now = performance.now(), { mirror, world, client } = link;
  moment = mirror === null ? null : playback.at(now);
  if (moment !== null) {
    crowd.draw(mirror, moment);
    const pose = following ? crowd.poseOf(mirror, moment, inspector.id) : null;
    stage.follow(pose?.position ?? null);
    hand.pull(now);
    if (world !== null) {
      inspector.refresh(world, mirror, now);
      statistics.picture(now, client, world, mirror, playback);
    }
  }
  stage.render();
}

// For the console, and for tests of the page.
window.cairn = { link, stage, crowd, playback, statistics, inspector, contacts, choose, moment: () => moment };
link.start();
requestAnimationFrame(picture);
