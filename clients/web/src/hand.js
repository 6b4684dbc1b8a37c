/**
 * The user's hand in the world: choosing, pulling and pushing bodies. It only sends commands; the server computes
 * their effect.
 */
import { BufferGeometry, Line, LineBasicMaterial, Plane, Vector3 } from "three";
import { command } from "cairn-client";

/** A pointer that moved less is a click, pixels. */
const CLICK = 4;
/** The spring of the pull, critically damped, Hz. */
const PULL = 5;
/** Commands a second while pulling. */
const SENDS = 30;
/** Limit of the pull's force: the body's weight on Earth. */
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
    window.addEventListener("pagehide", () => this.#let());
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

  /** Grips a body at a point with a drag joint, whose spring is scaled by the body's mass. */
  async #take({ id, point }) {
    const { crowd, mirror, moment, world, report } = this.viewer;
    const pose = crowd.poseOf(mirror(), moment(), id);
    if (pose === null) return;
    // In the body's axes, because the picture is a little behind the body.
    const local = point.clone().sub(pose.position).applyQuaternion(pose.rotation.clone().invert());
    const facing = this.viewer.stage.camera.getWorldDirection(new Vector3());
    const plane = new Plane().setFromNormalAndCoplanarPoint(facing, point);
    const grip = { id, local, target: point.clone(), sent: point.clone(), plane, world: world(), joint: null };
    this.#grip = grip;
    try {
      const { mass } = await grip.world.facts(id);
      if (this.#grip !== grip) return;
      const spring = { spring: "hertz", stiffness: PULL, damping: 1, spring_limit: WEIGHTS * mass * 9.81 };
      const made = await grip.world.apply(
        command("joint_create", { type: "drag", body_a: 0, body_b: id, point_a: grip.sent.toArray(), point_b: local.toArray(),
          owner: grip.world.client.session }), // the joint ends with the session, even if the page crashes
        ...[0, 1, 2].map((axis) => command("joint_axis", { joint: -1, axis, ...spring })));
      grip.joint = made.values[0];
      if (this.#grip !== grip) this.#remove(grip);
    } catch (error) {
      report(error);
      if (this.#grip === grip) this.#let();
    }
  }

  #remove({ world, joint }) {
    // The joint may have been removed with its body.
    world.send(command("joint_remove", { joint })).catch(() => {});
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
    if (this.#grip !== null && this.#grip.joint !== null) this.#remove(this.#grip);
    this.#grip = null;
    this.line.visible = false;
    this.viewer.stage.controls.enabled = true;
  }

  /** Moves the hand's end of the joint: once a picture; sends no more often than it must. */
  pull(now) {
    const grip = this.#grip, { crowd, mirror, moment, world, connected, report } = this.viewer;
    if (grip === null || mirror() === null) return;
    const pose = crowd.poseOf(mirror(), moment(), grip.id);
    if (pose === null || grip.world !== world()) {
      this.#let();
      return;
    }
    const held = grip.local.clone().applyQuaternion(pose.rotation).add(pose.position);
    this.line.geometry.setFromPoints([held, grip.target]);
    this.line.visible = true;
    if (grip.joint === null || now - this.#sent < 1000 / SENDS || grip.target.equals(grip.sent)) return;
    if (!connected()) return; // queued commands would all act at once after a reconnect
    this.#sent = now;
    grip.sent.copy(grip.target);
    world().send(command("joint_move", { joint: grip.joint, point: grip.sent.toArray() }))
      .catch((error) => {
        if (this.#grip !== grip) return;
        report(error);
        this.#let();
      });
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
