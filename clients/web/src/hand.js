/**
 * The user's hand in the world: choosing a body, pulling it, pushing it. It only sends commands; what comes of them is the
 * server's.
 */
import { BufferGeometry, Line, LineBasicMaterial, Plane, Vector3 } from "three";
import { command } from "cairn-client";

/** A pointer that moved less is a click, pixels. */
const CLICK = 4;
/** Stiffness and damping of the pull, as a critically damped spring of this many rad/s. */
const PULL = 9;
/** Commands a second while pulling. */
const SENDS = 30;
/** A pull is no more than this many times the body's weight on Earth. */
const WEIGHTS = 40;
/** Speed that a push gives, m/s. */
const PUSH = 4;

export class Hand {
  #down = null;
  #grip = null;
  #sent = 0;

  /** @param viewer {stage, crowd, world(), mirror(), moment(), connected(), mayCommand(), choose(id), report(error)} */
  constructor(viewer) {
    this.viewer = viewer;
    this.line = new Line(new BufferGeometry().setFromPoints([new Vector3(), new Vector3()]),
      new LineBasicMaterial({ color: 0xffd166, depthTest: false }));
    this.line.visible = false;
    this.line.frustumCulled = false;
    viewer.stage.scene.add(this.line);
    const { canvas } = viewer.stage;
    // Before the orbit controls, which would turn the camera.
    canvas.addEventListener("pointerdown", (event) => this.#press(event), { capture: true });
    window.addEventListener("pointermove", (event) => this.#move(event));
    window.addEventListener("pointerup", (event) => this.#release(event));
    window.addEventListener("pointercancel", () => this.#let());
  }

  #press(event) {
    if (event.button !== 0) return;
    const { stage, crowd, mirror, mayCommand } = this.viewer;
    this.#down = { x: event.clientX, y: event.clientY };
    if (mirror() === null || !mayCommand()) return;
    const hit = crowd.pick(stage.rayAt(event.clientX, event.clientY));
    if (hit === null || mirror().body(hit.id)?.status !== "dynamic") return;
    stage.controls.enabled = false;
    this.#take(hit);
  }

  /** Takes hold of a body at a point, once it is known how heavy it is. */
  async #take({ id, point }) {
    const { crowd, mirror, moment, world, report } = this.viewer;
    const pose = crowd.poseOf(mirror(), moment(), id);
    if (pose === null) return;
    const local = point.clone().sub(pose.position).applyQuaternion(pose.rotation.clone().invert());
    const facing = this.viewer.stage.camera.getWorldDirection(new Vector3());
    const grip = { id, local, target: point.clone(), plane: new Plane().setFromNormalAndCoplanarPoint(facing, point) };
    this.#grip = grip;
    try {
      const { mass, centre } = await world().facts(id);
      grip.mass = mass;
      grip.arm = local.clone().sub(new Vector3(...centre)).toArray();
    } catch (error) {
      report(error);
      this.#let();
    }
  }

  #move(event) {
    if (this.#grip === null) return;
    this.viewer.stage.rayAt(event.clientX, event.clientY).ray.intersectPlane(this.#grip.plane, this.#grip.target);
  }

  #release(event) {
    if (event.button !== 0 || this.#down === null) return;
    const { stage, crowd, mirror, choose } = this.viewer;
    const moved = Math.hypot(event.clientX - this.#down.x, event.clientY - this.#down.y);
    this.#down = null;
    this.#let();
    if (moved > CLICK || mirror() === null) return;
    choose(crowd.pick(stage.rayAt(event.clientX, event.clientY))?.id ?? 0);
  }

  #let() {
    this.#grip = null;
    this.line.visible = false;
    this.viewer.stage.controls.enabled = true;
  }

  /** Pulls what is held: once a picture; sends no more often than it must. */
  pull(now) {
    const grip = this.#grip, { crowd, mirror, moment, world, connected, report } = this.viewer;
    if (grip === null || mirror() === null) return;
    const pose = crowd.poseOf(mirror(), moment(), grip.id);
    if (pose === null) {
      this.#let();
      return;
    }
    const held = grip.local.clone().applyQuaternion(pose.rotation).add(pose.position);
    this.line.geometry.setFromPoints([held, grip.target]);
    this.line.visible = true;
    if (grip.mass === undefined || now - this.#sent < 1000 / SENDS || world().mode !== "running") return;
    if (!connected()) return; // what is said now would all be heard at once, later
    this.#sent = now;
    const slot = mirror().slots.get(grip.id) * 3, velocity = new Vector3().fromArray(mirror().velocity, slot);
    const force = grip.target.clone().sub(held).multiplyScalar(PULL * PULL).addScaledVector(velocity, -2 * PULL)
      .multiplyScalar(grip.mass).clampLength(0, WEIGHTS * grip.mass * 9.81);
    const ticks = Math.max(1, Math.ceil((world().rate || 60) / SENDS));
    world().send(command("force", { body: grip.id, force: force.toArray(), point: grip.arm, ticks }))
      .catch((error) => { report(error); this.#let(); });
  }

  /** Pushes a body along the view. */
  async push(id) {
    const { stage, world, report } = this.viewer;
    try {
      const { mass } = await world().facts(id);
      const along = stage.camera.getWorldDirection(new Vector3()).multiplyScalar(PUSH * mass);
      await world().apply(command("impulse", { body: id, impulse: along.toArray() }));
    } catch (error) {
      report(error);
    }
  }
}
