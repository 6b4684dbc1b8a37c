/** The viewer's page: connects its parts and draws the pictures. */
import { shapes } from "cairn-client";
import { dropToken, linkTo, reachOf, showWorld, viewOf } from "./address.js";
import { removeBody } from "./ball.js";
import { Banner } from "./banner.js";
import { Bodies } from "./bodies.js";
import { Capture } from "./capture.js";
import { Contacts } from "./contacts.js";
import { Crowd } from "./crowd.js";
import { Drop } from "./drop.js";
import { Fields } from "./fields.js";
import { Film } from "./film.js";
import { Particles } from "./particles.js";
import { FirstView } from "./first_view.js";
import { Focus } from "./focus.js";
import { Hand } from "./hand.js";
import { Inspector } from "./inspector.js";
import { JointLines } from "./joints.js";
import { Layers } from "./layers.js";
import { Link } from "./link.js";
import { Looks } from "./looks.js";
import { Keys } from "./keys.js";
import { Menu } from "./menu.js";
import { Physics } from "./physics.js";
import { Playback } from "./playback.js";
import { Plots } from "./plots.js";
import { Pulse } from "./pulse.js";
import { Scenes } from "./scenes.js";
import { Stability } from "./stability.js";
import { Stage } from "./stage.js";
import { Steering } from "./steering.js";
import { Statistics } from "./statistics.js";
import { Timeline } from "./timeline.js";

const element = (id) => document.getElementById(id);

/** Without WebGL the page says so and does nothing else. */
function makeStage() {
  try {
    return new Stage(element("stage"));
  } catch (error) {
    element("unavailable").hidden = false;
    document.body.classList.add("bare");
    throw error;
  }
}

const stage = makeStage();
const playback = new Playback();
const statistics = new Statistics(element("statistics").querySelector("dl"));
const inspector = new Inspector(element("inspector"), { connected: () => link.connected, report, wake: () => pulse.wake() });
const contacts = new Contacts(stage.scene);
const joints = new JointLines(stage.scene);
const fields = new Fields(stage.scene);
const particles = new Particles(stage.scene, stage.renderer);
stage.over = particles.surface;
const crowd = new Crowd(stage.scene, (name) => link.world.geometry(name));
const looks = new Looks(crowd);
const focus = new Focus(stage);
const banner = new Banner(element("banner"), () => link.start(), () => {
  dropToken(link.options);
  link.start();
});
let moment = null;
let following = false;
/** Tick of the last frame in which bodies changed; playhead and epoch of the last picture. */
let changedAt = -Infinity, drawnAt = -Infinity, drawnEpoch = 0;
const pulse = new Pulse(picture);
/** The world is started as soon as all of it is on the screen. */
let waiting = false;
/** A loss shorter than this, ms, is shown in the status text only, without the banner. */
const BANNER_MS = 800;
let bannerTimer = 0;

// ---- the connection --------------------------------------------------------------------------------

function showState(text, state) {
  element("state").textContent = text;
  element("state").dataset.state = state;
}

const mayCommand = () => ["controller", "admin"].includes(link.client?.role);
const menu = new Menu(element("world"), (name) => link.join(name).catch(report));
const physics = new Physics(element("physics"), element("method"), mayCommand);
const bodies = new Bodies({
  root: element("bodies"), button: element("list"), choose: (id) => choose(id), kindsOf: (id) => crowd.kindsOf(id),
});
const layers = new Layers({
  root: element("layers"), button: element("layer"), scene: stage.scene, painted: (paint) => { crowd.paint = paint; },
});
const stability = new Stability({ root: element("layers"), scene: stage.scene });
const plots = new Plots(element("plots"), element("plot"));

function showPace(world) {
  const running = world.mode === "running", own = mayCommand();
  document.body.classList.toggle("observer", !own);
  element("pause").textContent = running ? "Pause" : "Resume";
  element("pause").disabled = element("speed").disabled = !own;
  element("step").disabled = !own || running;
  element("restart").disabled = element("throw").disabled = !own;
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
  looks.clear();
  layers.clear();
  stability.clear();
  plots.clear();
  playback.clear(rate);
  focus.clear();
  particles.surface.fill([]);
  particles.surface.retry();
  timeline.reset();
  element("focus").checked = false;
  moment = null;
  waiting = false;
  view.clear();
  stage.ground = null;
  choose(0);
}

function joined(client, world, worlds) {
  hideBanner();
  film.end();
  clear(world.rate);
  document.title = `${world.name} · Cairn`;
  menu.show(worlds, world.name);
  showWorld(world.name, world.name === link.options.get("world"));
  world.onInfo = showPace;
  showPace(world);
  contacts.watch(world);
  physics.watch(world);
}

function empty() {
  clear(60);
  contacts.watch(null);
  physics.watch(null);
  menu.empty();
  showState(`${link.client.role}, no world`, "empty");
  banner.show(new Error("The server has no world yet. The first one will appear here."));
}

/** Points the camera at what is to be seen first. */
function lookAt(mirror) {
  const boxes = crowd.subject(mirror);
  if (boxes.length > 0) stage.frame(boxes, crowd.planar);
}

const view = new FirstView(stage, lookAt);

/** Shortest time between two fits of the shadow map, ms. */
const FIT_MS = 500;
let fitted = -Infinity;

function fitShadows(mirror, now) {
  if (now - fitted < FIT_MS) return;
  fitted = now;
  const box = crowd.bounds(mirror, { statics: true });
  if (box !== null) stage.fitShadows(box);
}

function frame(mirror, bytes, ms, first) {
  const changed = first || mirror.changed.length > 0 || mirror.removed.length > 0;
  if (changed) {
    changedAt = mirror.tick;
    pulse.wake();
  }
  if (mirror.epoch !== drawnEpoch) drawnAt = -Infinity;
  drawnEpoch = mirror.epoch;
  stability.frame(mirror, changed, performance.now());
  crowd.follow(mirror, first || mirror.changed.length === mirror.count);
  playback.push(mirror, performance.now());
  statistics.frame(bytes, ms, changed);
  view.take(mirror);
  if (first) lookAt(mirror);
  // A demonstration waits for its first visitor.
  if (first) waiting = mirror.tick === 0 && link.world.mode === "paused" && link.options.get("start") === "seen" && mayCommand();
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
  unknown: (name, instead) => note(`There is no world “${name}” here; this is “${instead}”.`, 8000),
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

let noteTimer = 0;

/** Shows a text for `ms` milliseconds. */
function note(text, ms = 5000) {
  clearTimeout(noteTimer);
  element("note").textContent = text;
  element("note").hidden = false;
  noteTimer = setTimeout(() => { element("note").hidden = true; }, ms);
}

/** Copies a link to what is on the screen. */
async function share() {
  if (link.world === null || link.mirror === null) return;
  const { tick, epoch } = link.mirror, [camera, target] = [stage.camera.position, stage.controls.target].map((at) => at.toArray());
  const address = linkTo({ name: link.world.name, camera, target, tick, epoch });
  try {
    await navigator.clipboard.writeText(address);
    note(`The link is in the clipboard. It has no token: it lets others watch.${reachOf(location)}`, 12000);
  } catch {
    note(address, 30000); // to be copied by hand: the browser refuses the clipboard
  }
}

function choose(id) {
  if (id !== steering.id) steering.end();
  crowd.chosen = id;
  inspector.choose(id);
  following = following && id !== 0;
  element("follow").setAttribute("aria-pressed", following);
}

const hand = new Hand({
  stage, crowd, particles, choose, report, mayCommand,
  connected: () => link.connected,
  world: () => link.world,
  mirror: () => (moment === null ? null : link.mirror),
  moment: () => moment,
});

const steering = new Steering({
  stage, note, report, button: element("steer"),
  connected: () => link.connected,
  world: () => link.world,
  chosen: () => inspector.id,
  began: () => { if (!following) follow(); },
});

const capture = new Capture({ stage, button: element("video"), report,
  name: () => `${link.world?.name ?? "cairn"}-${link.mirror?.tick ?? 0}` });

const scenes = new Scenes({
  root: element("scenes"), button: element("browse"), note, report, client: () => {
    if (!link.connected) throw new Error("The page is not connected to a server.");
    return link.client;
  }, join: (name) => link.join(name),
});
const drop = new Drop({ stage, hand, scenes, input: element("file"), note, report, mayCommand, world: () => link.world });
const film = new Film({ link, stage, timeline, button: element("film"), note, report });

const pace = (action, value) => link.world?.control(action, value).then(() => showPace(link.world)).catch(report);
const pauseOrResume = () => pace(link.world?.mode === "running" ? "pause" : "resume");
const step = () => link.world?.step(1).catch(report);

function follow() {
  following = !following && inspector.id !== 0;
  const pose = following && moment !== null ? crowd.poseOf(link.mirror, moment, inspector.id) : null;
  if (pose !== null) stage.centre(pose.position);
  element("follow").setAttribute("aria-pressed", following);
}

function toggle(id) {
  element(id).click();
}

function throwOrGrip() {
  hand.throwing = !hand.throwing;
  element("throw").setAttribute("aria-pressed", hand.throwing);
  if (hand.throwing) note("Each click throws a ball. B again: clicks choose bodies.");
}

function steerOrEnd() {
  if (steering.on) steering.end();
  else steering.begin(inspector.id);
}

function remove() {
  if (inspector.id !== 0) removeBody(link.world, inspector.id).catch(report);
}

element("pause").onclick = pauseOrResume;
element("step").onclick = step;
element("throw").onclick = throwOrGrip;
element("delete").onclick = remove;
element("load").onclick = () => element("file").click();
element("share").onclick = share;
element("picture").onclick = () => capture.picture();
element("video").onclick = () => capture.video();
element("film").onclick = () => film.toggle();
element("speed").onchange = ({ target }) => {
  statistics.speed = Number(target.value);
  pace("speed", statistics.speed);
};
/** Arrows and points inside bodies are seen through them. */
const fade = () => { crowd.faded = contacts.on || stability.on; };
element("contacts").onchange = ({ target }) => {
  contacts.on = target.checked;
  fade();
};
stability.onSwitch = fade;
element("joints").onchange = ({ target }) => { joints.on = target.checked; };
element("fluid-look").onchange = ({ target }) => { particles.surface.choice = target.value; };
element("shade").onchange = ({ target }) => { particles.shade = target.value; };
element("fields").onchange = ({ target }) => { fields.on = particles.sinks.on = target.checked; };
element("layers").querySelector("[name=shapes]").onchange = ({ target }) => crowd.bare(target.checked, link.mirror);
// These switches stand among the layers, too.
for (const name of ["contacts", "joints", "fields"]) {
  const line = element("layers").querySelector(`[name=${name}]`);
  line.onchange = () => toggle(name);
  element(name).addEventListener("change", ({ target }) => { line.checked = target.checked; });
}
element("focus").onchange = ({ target }) => focus.set(target.checked, link);
element("shadows").onchange = ({ target }) => { stage.shadows = target.checked; };
element("reset").onclick = () => { if (link.mirror !== null) lookAt(link.mirror); };
element("past").onclick = () => timeline.toggle();
element("push").onclick = () => hand.push(inspector.id);
element("steer").onclick = steerOrEnd;
element("leave").onclick = () => choose(0);
element("follow").onclick = follow;

element("stage").ondblclick = ({ clientX, clientY }) => {
  if (hand.throwing || moment === null) return;
  const point = hand.pointAt(clientX, clientY);
  if (point !== null) stage.centre(point);
};

/** Angle of a turn by a key, radians, and factor of a step nearer. */
const TURN = 0.08, NEARER = 0.9;

new Keys({
  everybody: {
    ArrowLeft: () => stage.turn(-TURN, 0),
    ArrowRight: () => stage.turn(TURN, 0),
    ArrowUp: () => stage.turn(0, TURN),
    ArrowDown: () => stage.turn(0, -TURN),
    "+": () => stage.approach(NEARER),
    "=": () => stage.approach(NEARER),
    "-": () => stage.approach(1 / NEARER),
    Escape: () => choose(0),
    f: follow,
    c: () => toggle("contacts"),
    j: () => toggle("joints"),
    e: () => toggle("fields"),
    v: () => toggle("focus"),
    r: () => toggle("reset"),
    m: () => physics.toggle(),
    k: share,
    i: () => capture.picture(),
    o: () => capture.video(),
    a: () => film.toggle(),
    l: () => bodies.toggle(),
    g: () => plots.toggle(),
    y: () => layers.toggle(),
    t: () => timeline.toggle(),
    h: () => document.body.classList.toggle("bare"),
  },
  commands: {
    " ": pauseOrResume,
    ".": step,
    w: steerOrEnd,
    p: () => { if (inspector.id !== 0) hand.push(inspector.id); },
    b: throwOrGrip,
    n: () => scenes.toggle(),
    0: () => toggle("restart"),
    Delete: remove,
  },
  mayCommand: () => mayCommand() && link.connected,
  mode: steering,
});

// ---- pictures ------------------------------------------------------------------------------------------

/** Empty pictures still to render after a world was left, so that its bodies disappear from the screen. */
let emptyPictures = 0;

/** What the last picture was made from: if nothing of it has changed, the next one would be the same. */
let drawnState = "";

/** How fluids are drawn, and what their colours mean. */
function showFluids() {
  const { fluids, legend, surface } = particles, root = element("fluids");
  root.hidden = !fluids;
  if (!fluids) return;
  const why = element("fluid-why"), scale = element("fluid-legend");
  if (why.textContent !== surface.why) why.textContent = surface.why;
  scale.hidden = legend === null;
  if (legend === null) return;
  scale.querySelector("[name=low]").textContent = legend.low;
  scale.querySelector("[name=high]").textContent = `${legend.high} ${legend.unit}`;
}

function refresh(now) {
  const { mirror, world } = link;
  const pose = following ? crowd.poseOf(mirror, moment, inspector.id) : null;
  stage.follow(pose?.position ?? null);
  hand.pull(now);
  if (world === null || !link.connected) return;
  contacts.refresh(world, inspector.id, now);
  fields.refresh(world, mirror, crowd.planar, now);
  particles.refresh(world, mirror, now);
  showFluids();
  looks.refresh(world, mirror, now);
  layers.refresh(world, mirror, now);
  stability.refresh(world, { chosen: inspector.id, planar: crowd.planar, past: playback.direct,
    boxOf: (id) => crowd.drawnBox(mirror, moment, id)?.box ?? null }, now);
  inspector.refresh(world, mirror, contacts, now);
  focus.refresh(link, inspector.id, now);
  bodies.refresh(mirror, inspector.id, now);
  plots.refresh(world, mirror, inspector.id, statistics, mayCommand(), now);
}

/** Whether the picture of `moment` differs from the last one. */
function isNew() {
  const { playhead, direct } = playback;
  const moves = playhead !== drawnAt && (direct || drawnAt < changedAt);
  const state = [crowd, contacts, fields, particles, particles.surface, hand, layers, stability, stage].map(({ version }) => version)
    .concat(crowd.chosen, contacts.points.visible, stability.group.visible, joints.on, fields.on, moment === null, emptyPictures).join();
  const moved = stage.move();
  if (!moves && !moved && state === drawnState) return false;
  drawnState = state;
  drawnAt = playhead;
  return true;
}

/** Shows the view and the tick that the address names, once. */
function showNamedView(mirror) {
  if (link.world.name !== link.options.get("world")) return;
  const { camera, target, tick, epoch } = viewOf(link.options);
  for (const key of ["camera", "tick", "epoch"]) link.options.delete(key);
  if (camera !== null) {
    stage.look(camera, target);
  }
  if (tick === null || (tick === mirror.tick && (epoch ?? mirror.epoch) === mirror.epoch)) return;
  if (!timeline.open) timeline.toggle();
  timeline.seek(tick, 0, epoch);
}

/** The shapes of the bodies that arrived are on the screen. */
function allShown(mirror, now) {
  if (view.refresh(mirror, now)) {
    fitted = -Infinity;
    showNamedView(mirror);
  }
  stage.ground = crowd.ground;
  if (waiting && view.framed) {
    pace("resume");
    waiting = false;
  }
}

/** Makes the next picture. @returns {boolean} whether something was drawn */
function picture(now) {
  const { mirror, world, client } = link;
  moment = mirror === null ? null : playback.at(now);
  if (moment !== null) refresh(now);
  if (link.connected) {
    physics.refresh(mirror, now);
    timeline.refresh(now);
    if (world !== null) menu.refresh(client, world.name, now);
  }
  const fresh = isNew();
  if (moment !== null && world !== null && link.connected) statistics.picture(now, client, world, mirror, playback, fresh);
  const shown = () => { if (crowd.complete && moment !== null) allShown(mirror, now); };
  if (!fresh) {
    if (!view.framed) shown();
    return moment !== null && view.framed && stage.refine();
  }
  if (moment !== null) {
    fitShadows(mirror, now);
    crowd.draw(mirror, moment, stage.metresPerPixel);
    joints.draw(crowd, mirror, moment, stage.camera);
    layers.draw(crowd, mirror, moment, stage.camera);
  }
  // Before the first frame there is nothing to draw, and rendering would delay loading.
  if (moment !== null || emptyPictures > 0) stage.render();
  emptyPictures = moment === null ? Math.max(emptyPictures - 1, 0) : 2;
  shown();
  return true;
}

// For the console, and for tests of the page.
window.cairn = {
  link, shapes, stage, crowd, looks, playback, statistics, inspector, contacts, joints, fields, particles, focus, physics, bodies, plots, layers, stability, steering, hand, timeline, film, scenes, drop, choose,
  moment: () => moment, wake: () => pulse.wake(), framed: () => view.framed,
  fittedFor: () => view.fitted,
};
// The address was changed by hand, or another link was opened in this page.
window.addEventListener("hashchange", () => {
  link.options = new URLSearchParams(location.hash.slice(1));
  view.clear();
  const name = link.options.get("world");
  if (link.connected && name !== null && name !== link.world?.name) link.join(name).catch(report);
});
link.start();
pulse.wake();
