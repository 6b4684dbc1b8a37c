/**
 * The joints of the chosen body in its panel: type, name, and the coordinate of each free axis, live. An axis with a motor or limits
 * has a slider for roles that may command. It follows the coordinate; while it is held it sets the position that the axis' motor holds.
 * An axis whose motor is of another kind, or has none, gets a position motor then; "Give back" restores what it had.
 */
import { command } from "cairn-client";
import { make } from "./parameter.js";

/** Joints that are shown. */
const SHOWN = 6;
/** Shortest time between two queries, ms: while ticks pass, and while none does. */
const LIVE_MS = 100, STILL_MS = 500;
/** Shortest time between two targets, ms. */
const SEND_MS = 33;
/** A motor without gains follows its target at once, however far it is: its target crosses the range in this time, s. */
const CROSS_S = 1;
/** Limit of a motor that the page makes where there is none: this many times the weight of the lighter body, N, or at 1 m, N m. */
const WEIGHTS = 40, GRAVITY = 9.81;
/** Range of a slider without limits: ± this, rad and m. */
const TURN = Math.PI, WAY = 1;
const STEPS = 1000;
const DEGREES = 180 / Math.PI;

/** Names of the axes that a type does not lock, by number, as scenes have them. */
const AXES = {
  spherical: { 3: "twist", 4: "swing" },
  revolute: { 3: "turn" },
  prismatic: { 0: "slide" },
  cylindrical: { 0: "slide", 3: "turn" },
  universal: { 3: "turn", 4: "bend" },
  fixed: {},
  distance: { 0: "length" },
  six_dof: { 0: "x", 1: "y", 2: "z", 3: "rx", 4: "ry", 5: "rz" },
  wheel: { 0: "suspension", 3: "steer", 5: "spin" },
  drag: { 0: "x", 1: "y", 2: "z" },
};
const isAngle = (axis) => axis >= 3;

/** A coordinate in words: degrees or metres. */
export const coordinateText = (axis, value) => {
  const text = isAngle(axis) ? (value * DEGREES).toFixed(1) : value.toFixed(3);
  return `${Number(text) === 0 ? text.replace("-", "") : text}${isAngle(axis) ? "°" : " m"}`;
};

/** Numbers of the axes along or about which a joint moves. */
export const freeAxes = ({ type, axes }) => Object.keys(AXES[type] ?? {}).map(Number)
  .filter((axis) => axes[axis].mode !== "locked" &&
    !(axes[axis].mode === "limited" && axes[axis].lower === axes[axis].upper && AXES[type][axis] !== "swing"));

/** The range of an axis' slider, rad or m; of a turn without limits around the whole turns that its coordinate has made. */
export function rangeOf({ mode, lower, upper }, axis, coordinate) {
  if (mode === "limited") return [Math.max(lower, -1e6), Math.min(upper, 1e6)];
  if (!isAngle(axis)) return [-WAY, WAY];
  const turns = Math.round(coordinate / (2 * TURN)) * 2 * TURN;
  return [turns - TURN, turns + TURN];
}

/** Whether the axis has a slider: something holds or bounds it, and it does not follow another axis. */
export const isMovable = ({ axes, gears }, axis) => gears[axis] === null && (axes[axis].motor !== "none" || axes[axis].mode === "limited");

/** What an axis follows, in words. `leader`: what is known of that joint, or undefined. */
export function gearText({ leader, leaderAxis, ratio, offset, force }, axis, known) {
  const name = AXES[known?.type]?.[leaderAxis] ?? `axis ${leaderAxis}`;
  // Metres of a turn, and turns of a way, are told per degree as they are shown.
  const shown = ratio * (isAngle(axis) ? DEGREES : 1) / (isAngle(leaderAxis) ? DEGREES : 1);
  const units = isAngle(axis) === isAngle(leaderAxis) ? "" : isAngle(axis) ? " °/m" : " m/°";
  const plus = offset === 0 ? "" : ` + ${coordinateText(axis, offset)}`;
  return `follows ${name} of joint ${leader}, times ${Number(shown.toPrecision(4))}${units}${plus}; its gear exerts ` +
    `${Number(force.toPrecision(3))} ${isAngle(axis) ? "N m" : "N"}`;
}

/** The rotor of an axis in words. */
export const rotorText = ({ armature, force }, axis) => `armature ${Number(armature.toPrecision(4))} ` +
  `${isAngle(axis) ? "kg m²" : "kg"}; its rotor exerts ${Number(force.toPrecision(3))} ${isAngle(axis) ? "N m" : "N"}`;

/** The command that gives an axis its settings, with some of them changed. */
const axisCommand = (joint, axis, own, changes = {}) => {
  const { springLimit, motorLimit, motorStiffness, motorDamping, ...same } = own;
  return command("joint_axis", { joint, axis, ...same, spring_limit: springLimit, motor_limit: motorLimit,
    motor_stiffness: motorStiffness, motor_damping: motorDamping, ...changes });
};

/** One axis: its line in the panel, and what its slider wants. */
class AxisLine {
  #pointer = false;
  #keys = false;
  /** Where the slider wants the axis; null: nowhere. The target sent last, and when; whether an answer is due. */
  #goal = null;
  #target = 0;
  #sentAt = -Infinity;
  #sending = false;

  constructor(panel, joint, axis, name) {
    Object.assign(this, { panel, joint, axis });
    this.value = make("output");
    this.text = make("p", { className: "meaning" });
    this.slider = make("input", { type: "range", className: "commands", step: "any" });
    this.slider.setAttribute("aria-label", `${name} of joint ${joint.id}`);
    this.back = make("button", { type: "button", className: "commands", textContent: "Give back",
      title: "The axis gets the motor that it had before the slider moved it" });
    this.root = make("div", { className: "axis" }, make("span", { textContent: name }), this.value, this.slider, this.back, this.text);
    this.root.dataset.axis = `${joint.id}:${axis}`;
    this.slider.onpointerdown = () => { this.#pointer = true; };
    this.slider.onpointerup = this.slider.onpointercancel = this.slider.onlostpointercapture = () => { this.#pointer = false; };
    this.slider.onkeydown = () => { this.#keys = true; };
    this.slider.onblur = () => { this.#pointer = this.#keys = false; };
    this.slider.oninput = () => this.#want(this.slider.valueAsNumber / (isAngle(axis) ? DEGREES : 1));
    this.back.onclick = () => this.#giveBack();
    this.show(joint);
  }

  get key() { return this.root.dataset.axis; }
  /** The slider is under the user's hand and does not follow the axis. */
  get held() { return this.#pointer || this.#keys; }
  get #own() { return this.joint.axes[this.axis]; }

  /** Shows the joint as the server tells it. */
  show(joint) {
    const { axis } = this, { coordinates, gears, rotors } = joint, unit = isAngle(axis) ? DEGREES : 1;
    this.joint = joint;
    this.value.textContent = coordinateText(axis, coordinates[axis]);
    this.slider.hidden = !isMovable(joint, axis);
    this.back.hidden = this.slider.hidden || !this.panel.before.has(this.key);
    this.text.textContent = [gears[axis] && gearText(gears[axis], axis, this.panel.known(gears[axis].leader)),
      rotors[axis] && rotorText(rotors[axis], axis)].filter(Boolean).join("; ");
    this.text.hidden = this.text.textContent === "";
    if (this.slider.hidden || this.held) return;
    this.range = rangeOf(this.#own, axis, coordinates[axis]);
    const [min, max] = this.range.map((end) => end * unit);
    Object.assign(this.slider, { min, max, step: max > min ? (max - min) / STEPS : "any", value: coordinates[axis] * unit });
    this.slider.setAttribute("aria-valuetext", this.value.textContent);
  }

  #want(goal) {
    if (this.#goal === null) this.#target = this.joint.coordinates[this.axis];
    this.#goal = goal;
    this.slider.setAttribute("aria-valuetext", coordinateText(this.axis, goal));
    this.panel.wake();
  }

  /** Called once per picture: sends the next target on the way to the goal. */
  send(now) {
    if (this.#goal === null || this.#sending || now - this.#sentAt < SEND_MS || !this.panel.connected()) return;
    const servo = this.#own.motor === "position" && this.#own.motorStiffness > 0;
    const far = (this.range[1] - this.range[0]) * Math.min(now - this.#sentAt, 3 * SEND_MS) / 1000 / CROSS_S;
    const target = servo ? this.#goal : Math.min(Math.max(this.#goal, this.#target - far), this.#target + far);
    this.#sentAt = now;
    this.#target = target;
    if (target === this.#goal) this.#goal = null;
    this.#sending = true;
    this.#move(target).catch((error) => {
      this.#goal = null;
      this.panel.report(error);
    }).finally(() => { this.#sending = false; });
    this.panel.wake();
  }

  async #move(target) {
    const { joint, axis, panel } = this, own = this.#own, { world } = panel;
    if (own.motor === "position" && own.wave === "constant")
      return world.apply(command("joint_targets", { targets: [[joint.id, axis, target]] }));
    // The points of a table cannot be asked for: what follows one is not given back.
    if (own.wave !== "table" && !panel.before.has(this.key)) panel.before.set(this.key, own);
    const changes = { motor: "position", target, wave: "constant", amplitude: 0, hertz: 0, phase: 0 };
    // Gains of a velocity motor are no servo's; a force's limit is kept, too.
    if (own.motor !== "position") Object.assign(changes, { motor_stiffness: 0, motor_damping: 0 });
    if (own.motor === "none") changes.motor_limit = await panel.strength(joint);
    await world.apply(axisCommand(joint.id, axis, own, changes));
    if (this.joint.id === joint.id) this.joint.axes[axis] = { ...own, ...changes, motorLimit: changes.motor_limit ?? own.motorLimit,
      motorStiffness: changes.motor_stiffness ?? own.motorStiffness, motorDamping: changes.motor_damping ?? own.motorDamping };
    return null;
  }

  #giveBack() {
    const { panel, joint, axis, key } = this, own = panel.before.get(key);
    if (own === undefined) return;
    this.#goal = null;
    panel.world.apply(axisCommand(joint.id, axis, own)).then(() => {
      panel.before.delete(key);
      panel.ask();
    }, (error) => panel.report(error));
  }
}

export class Coordinates {
  #asked = -Infinity;
  #tick = -1;
  #waiting = false;
  #body = 0;
  #names = new Map();
  #lines = [];
  #titles = new Map();
  #shape = "";

  /** @param viewer {connected(), report(error), wake()} */
  constructor(root, { connected, report, wake }) {
    Object.assign(this, { root, connected, report, wake });
    this.world = this.mirror = null;
    /** The joints that are shown, as World.joint has them. */
    this.joints = [];
    /** Settings of axes before their sliders changed their motors, by joint:axis. */
    this.before = new Map();
    this.root.hidden = true;
  }

  /** Another body; 0: none. */
  choose(id) {
    this.#body = id;
    this.#asked = -Infinity;
    this.#show([], 0);
  }

  /** The next picture asks. */
  ask() { this.#asked = -Infinity; }

  /** What is known of a joint. */
  known(id) { return this.joints.find((joint) => joint.id === id) ?? this.mirror?.joints.items.get(id); }

  /** The limit of a motor that the page makes for an axis of a joint, N or N m. */
  async strength({ a, b }) {
    const facts = await Promise.all([a, b].filter((id) => id !== 0).map((id) => this.world.facts(id)));
    const masses = facts.map(({ mass }) => mass).filter((mass) => mass > 0);
    return WEIGHTS * GRAVITY * (masses.length > 0 ? Math.min(...masses) : 1);
  }

  /** Called once per picture. */
  refresh(world, mirror, now) {
    if (this.world !== world) this.#names.clear();
    // After a restart axes have what they had.
    if (this.world !== world || this.mirror?.epoch !== mirror.epoch) this.before.clear();
    this.world = world;
    this.mirror = mirror;
    for (const line of this.#lines) line.send(now);
    const wait = mirror.tick === this.#tick ? STILL_MS : LIVE_MS;
    if (this.#waiting || now - this.#asked < wait) return;
    this.#asked = now;
    this.#tick = mirror.tick;
    const body = this.#body, ids = [...mirror.joints.items.values()].filter(({ a, b }) => a === body || b === body)
      .map(({ id }) => id).sort((p, q) => p - q);
    if (ids.length === 0) {
      this.#show([], 0);
      return;
    }
    this.#waiting = true;
    this.#find(world, body, ids).finally(() => { this.#waiting = false; });
  }

  async #find(world, body, ids) {
    // A joint that breaks meanwhile is left out.
    const found = await Promise.all(ids.slice(0, SHOWN).map((id) => world.joint(id).catch(() => null)));
    if (found.some((joint) => joint !== null && !this.#names.has(joint.id))) {
      const names = await world.jointNames().catch(() => new Map());
      for (const id of ids) this.#names.set(id, names.get(id) ?? "");
    }
    if (this.world === world && this.#body === body) this.#show(found.filter((joint) => joint !== null), ids.length - SHOWN);
  }

  /** Shows joints; `more` others are not shown. */
  #show(joints, more) {
    this.joints = joints;
    const shape = `${joints.map((joint) => [joint.id, joint.type, ...freeAxes(joint)].join())} ${more}`;
    if (shape !== this.#shape) this.#build(joints, more);
    this.#shape = shape;
    for (const line of this.#lines) line.show(joints.find(({ id }) => id === line.joint.id));
    for (const { id, a, b } of joints) {
      const other = a === this.#body ? b : a, name = this.#names.get(id);
      const text = `${name ? `${name}, joint` : "Joint"} ${id} with ${other === 0 ? "the world" : `body ${other}`}`;
      if (this.#titles.get(id).textContent !== text) this.#titles.get(id).textContent = text;
    }
  }

  #build(joints, more) {
    this.#lines = [];
    this.#titles.clear();
    this.root.hidden = joints.length === 0;
    this.root.replaceChildren(...joints.map((joint) => {
      const lines = freeAxes(joint).map((axis) => new AxisLine(this, joint, axis, AXES[joint.type][axis]));
      this.#lines.push(...lines);
      this.#titles.set(joint.id, make("h3"));
      const type = make("p", { className: "meaning", textContent: `${joint.type}${lines.length === 0 ? ", no free axis" : ""}` });
      return make("div", {}, this.#titles.get(joint.id), type, ...lines.map(({ root }) => root));
    }), ...(more > 0 ? [make("p", { className: "meaning", textContent: `and ${more} more joints` })] : []));
  }
}
