/** The viewer's page: connects its parts and draws the pictures. */
import { Vector3 } from "three";
import { Banner } from "./banner.js";
import { Contacts } from "./contacts.js";
import { Crowd } from "./crowd.js";
import { Fields } from "./fields.js";
import { Focus } from "./focus.js";
import { Hand } from "./hand.js";
import { Inspector } from "./inspector.js";
import { JointLines } from "./joints.js";
import { Link } from "./link.js";
import { Physics } from "./physics.js";
import { Playback } from "./playback.js";
import { Stage } from "./stage.js";
import { Statistics } from "./statistics.js";
import { Timeline } from "./timeline.js";

const element = (id) => document.getElementById(id);
const stage = new Stage(element("stage"));
const playback = new Playback();
const statistics = new Statistics(element("statistics").querySelector("dl"));
const inspector = new Inspector(element("inspector"));
const contacts = new Contacts(stage.scene);
const joints = new JointLines(stage.scene);
const fields = new Fields(stage.scene);
const crowd = new Crowd(stage.scene, (name) => link.world.geometry(name));
const focus = new Focus(stage);
const banner = new Banner(element("banner"), () => link.start());
let moment = null;
let following = false;
/** A loss shorter than this, ms, is shown in the status text only, without the banner. */
const BANNER_MS = 800;
let bannerTimer = 0;

// ---- the connection --------------------------------------------------------------------------------

function showState(text, state) {
  element("state").textContent = text;
  element("state").dataset.state = state;
}

const mayCommand = () => ["controller", "admin"].includes(link.client?.role);
const physics = new Physics(element("physics"), element("method"), mayCommand);

function showPace(world) {
  const running = world.mode === "running", own = mayCommand();
  document.body.classList.toggle("observer", !own);
  element("pause").textContent = running ? "Pause" : "Resume";
  element("pause").disabled = element("speed").disabled = !own;
  element("step").disabled = !own || running;
  showState(`${link.client.role}, ${world.method}, ${world.mode}`, world.mode);
}

function hideBanner() {
  clearTimeout(bannerTimer);
  banner.hide();
}

function trouble(error, wait) {
  const at = performance.now();
  clearTimeout(bannerTimer);
  showState(wait === null ? error.message : `${error.message}; again in ${(wait / 1000).toFixed(1)} s`, "lost");
  if (wait === null || !banner.root.hidden) banner.show(error, wait, true);
  else bannerTimer = setTimeout(() => banner.show(error, Math.max(wait - (performance.now() - at), 0), true), BANNER_MS);
}

function clear(rate) {
  crowd.clear();
  playback.clear(rate);
  focus.clear();
  timeline.reset();
  element("focus").checked = false;
  moment = null;
  choose(0);
}

function joined(client, world, worlds) {
  hideBanner();
  clear(world.rate);
  document.title = `${world.name} · Cairn`;
  element("world").replaceChildren(...worlds.map(({ name }) => new Option(name, name, false, name === world.name)));
  world.onInfo = showPace;
  showPace(world);
  contacts.watch(world);
  physics.watch(world);
}

function empty() {
  clear(60);
  contacts.watch(null);
  physics.watch(null);
  element("world").replaceChildren(new Option("none"));
  showState(`${link.client.role}, no world`, "empty");
  banner.show(new Error("The server has no world yet. The first one will appear here."));
}

/** Points the camera at the bodies that are not static. In each axis the outermost tenth at both ends is ignored. */
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
  empty,
  resumed: (world) => {
    hideBanner();
    showPace(world);
  },
  frame,
  notice: (notice) => statistics.notice(notice),
  sought: (where) => timeline.take(where),
  lost: trouble,
});

/** The playhead begins anew when the pictures change between past and present. */
function showDirectly(on) {
  if (playback.direct !== on) playback.clear(link.world?.rate ?? 60);
  playback.direct = on;
}
const timeline = new Timeline({ link, report, direct: showDirectly });

// ---- input of the user ------------------------------------------------------------------------------

/** Shows an error in the banner for 5 s. */
function report(error) {
  banner.show(error);
  clearTimeout(bannerTimer);
  bannerTimer = setTimeout(() => banner.hide(), 5000);
}

function choose(id) {
  crowd.chosen = id;
  inspector.choose(id);
  following = following && id !== 0;
  element("follow").setAttribute("aria-pressed", following);
}

const hand = new Hand({
  stage, crowd, choose, report, mayCommand,
  connected: () => link.connected,
  world: () => link.world,
  mirror: () => (moment === null ? null : link.mirror),
  moment: () => moment,
});

const pace = (action, value) => link.world?.control(action, value).then(() => showPace(link.world)).catch(report);
const pauseOrResume = () => pace(link.world?.mode === "running" ? "pause" : "resume");
const step = () => link.world?.step(1).catch(report);

function follow() {
  following = !following && inspector.id !== 0;
  element("follow").setAttribute("aria-pressed", following);
}

function toggle(id) {
  element(id).click();
}

element("pause").onclick = pauseOrResume;
element("step").onclick = step;
element("speed").onchange = ({ target }) => {
  statistics.speed = Number(target.value);
  pace("speed", statistics.speed);
};
element("contacts").onchange = ({ target }) => { contacts.on = crowd.faded = target.checked; };
element("joints").onchange = ({ target }) => { joints.on = target.checked; };
element("fields").onchange = ({ target }) => { fields.on = target.checked; };
element("focus").onchange = ({ target }) => focus.set(target.checked, link);
element("shadows").onchange = ({ target }) => { stage.shadows = target.checked; };
element("reset").onclick = () => { if (link.mirror !== null) lookAt(link.mirror); };
element("world").onchange = ({ target }) => link.join(target.value).catch(report);
element("past").onclick = () => timeline.toggle();
element("push").onclick = () => hand.push(inspector.id);
element("leave").onclick = () => choose(0);
element("follow").onclick = follow;

/** Keys for all roles; COMMANDS are the keys of roles that may command. */
const KEYS = {
  Escape: () => choose(0),
  f: follow,
  c: () => toggle("contacts"),
  j: () => toggle("joints"),
  e: () => toggle("fields"),
  v: () => toggle("focus"),
  r: () => toggle("reset"),
  m: () => physics.toggle(),
  t: () => timeline.toggle(),
  h: () => document.body.classList.toggle("bare"),
};
const COMMANDS = { " ": pauseOrResume, ".": step, p: () => { if (inspector.id !== 0) hand.push(inspector.id); } };
window.addEventListener("keydown", (event) => {
  if (["INPUT", "SELECT", "BUTTON", "SUMMARY"].includes(event.target.tagName) || event.ctrlKey || event.metaKey || event.altKey) return;
  const action = KEYS[event.key] ?? (mayCommand() && link.connected ? COMMANDS[event.key] : undefined);
  if (action === undefined) return;
  event.preventDefault();
  action();
});

// ---- pictures ------------------------------------------------------------------------------------------

/** Empty pictures still to render after a world was left, so that its bodies disappear from the screen. */
let emptyPictures = 0;

function picture() {
  requestAnimationFrame(picture);
  const now = performance.now(), { mirror, world, client } = link;
  moment = mirror === null ? null : playback.at(now);
  if (moment !== null) {
    crowd.draw(mirror, moment);
    joints.draw(crowd, mirror, moment, stage.camera);
    const pose = following ? crowd.poseOf(mirror, moment, inspector.id) : null;
    stage.follow(pose?.position ?? null);
    hand.pull(now);
    if (world !== null && link.connected) {
      contacts.refresh(world, inspector.id, now);
      fields.refresh(world, crowd.planar, now);
      inspector.refresh(world, mirror, contacts, now);
      focus.refresh(link, inspector.id, now);
      statistics.picture(now, client, world, mirror, playback);
    }
  }
  if (link.connected) physics.refresh(mirror, now);
  if (link.connected) timeline.refresh(now);
  // Before the first frame there is nothing to draw, and rendering would delay loading.
  if (moment !== null || emptyPictures > 0) stage.render();
  emptyPictures = moment === null ? Math.max(emptyPictures - 1, 0) : 2;
}

// For the console, and for tests of the page.
window.cairn = {
  link, stage, crowd, playback, statistics, inspector, contacts, joints, fields, focus, physics, hand, timeline, choose,
  moment: () => moment,
};
link.start();
requestAnimationFrame(picture);
