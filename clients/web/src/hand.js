/**
 * Choosing, pulling and pushing bodies, and pulling linked particles, with the pointer. This module only sends commands; the server computes their effect.
 */
import { BufferGeometry, Line, LineBasicMaterial, Plane, Vector3 } from "three";
import { command } from "cairn-client";
import { throwBall } from "./ball.js";
import { ParticleGrip } from "./particle_grip.js";

/** Between press and release, a pointer that moves at most this many pixels is a click. */
const CLICK = 4;
/** Frequency of the pull's spring, Hz; the spring is critically damped. */
const PULL = 5;
/** Most commands per second during a pull. */
const SENDS = 30;
/** Limit of the pull's force, as a multiple of the body's weight (mass × 9.81 m/s²). */
const WEIGHTS = 40;
/** A particle at most this many pixels away is under the pointer. */
const GRASP = 6;
/** Speed that a push gives, m/s. */
const PUSH = 4;

export class Hand {
  #down = null;
  #grip = null;
  #sent = 0;

  /** @param viewer {stage, crowd, particles, world(), mirror(), moment(), connected(), mayCommand(), choose(id), report(error)} */
  constructor(viewer) {
    this.viewer = viewer;
    /** Grows with each change of the line. */
    this.version = 0;
    /** A click throws a ball and grips nothing. */
    this.throwing = false;
    this.line = new Line(new BufferGeometry().setFromPoints([new Vector3(), new Vector3()]),
      new LineBasicMaterial({ color: 0xffd166, depthTest: false }));
    this.line.visible = false;
    this.line.frustumCulled = false;
    viewer.stage.scene.add(this.line);
    const { canvas } = viewer.stage;
    // In the capture phase, before the orbit controls, which would turn the camera.
    canvas.addEventListener("pointerdown", (event) => this.#press(event), { capture: true });
    window.addEventListener("pointermove", (event) => this.#move(event));
    window.addEventListener("pointerup", (event) => this.#release(event));
    window.addEventListener("pointercancel", () => this.#letGo());
    window.addEventListener("pagehide", () => this.#letGo());
  }

  #press(event) {
    if (event.button !== 0) return;
    const { stage, crowd, particles, mirror, mayCommand } = this.viewer;
    this.#down = { x: event.clientX, y: event.clientY };
    if (mirror() === null || !mayCommand() || this.throwing) return;
    const aside = stage.rayAt(event.clientX + GRASP, event.clientY).ray.clone(), raycaster = stage.rayAt(event.clientX, event.clientY);
    const hit = crowd.pick(raycaster), particle = particles.pick(raycaster, aside);
    if (particle !== null && (hit === null || particle.along < hit.point.distanceTo(raycaster.ray.origin))) {
      this.#takeParticle(particle);
      return;
    }
    if (hit === null || mirror().body(hit.id)?.status !== "dynamic") return;
    stage.controls.enabled = false;
    this.#take(hit);
  }

  /** Grips a particle, which is held as soon as the pointer moves. */
  #takeParticle(particle) {
    const { stage, world } = this.viewer, { place } = particle;
    stage.controls.enabled = false;
    stage.handled = true; // the body that holds the particle is no reason to fit the view
    this.#grip = { particle: new ParticleGrip(world(), particle), world: world(), target: place.clone(),
      plane: new Plane().setFromNormalAndCoplanarPoint(stage.camera.getWorldDirection(new Vector3()), place) };
  }

  async #holdParticle(grip) {
    try {
      await grip.particle.take();
    } catch (error) {
      this.viewer.report(error);
      if (this.#grip === grip) this.#letGo();
    }
  }

  /** Grips a body at a point with a drag joint. The force limit of its spring is proportional to the body's mass. */
  async #take({ id, point }) {
    const { crowd, mirror, moment, world, report } = this.viewer;
    const pose = crowd.poseOf(mirror(), moment(), id);
    if (pose === null) return;
    // The point in the body's axes, because the picture shows an earlier pose than the server's.
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
      if (this.#grip === grip) this.#letGo();
    }
  }

  #remove({ world, joint }) {
    // The joint may have been removed with its body.
    world.send(command("joint_remove", { joint })).catch(() => {});
  }

  #move(event) {
    if (this.#grip === null) return;
    if (this.#grip.particle?.waits) {
      if (Math.hypot(event.clientX - this.#down.x, event.clientY - this.#down.y) <= CLICK) return;
      this.#holdParticle(this.#grip);
    }
    this.viewer.stage.rayAt(event.clientX, event.clientY).ray.intersectPlane(this.#grip.plane, this.#grip.target);
  }

  #release(event) {
    if (event.button !== 0 || this.#down === null) return;
    const { stage, crowd, mirror, choose } = this.viewer;
    const moved = Math.hypot(event.clientX - this.#down.x, event.clientY - this.#down.y);
    this.#down = null;
    this.#letGo();
    if (moved > CLICK || mirror() === null) return;
    if (this.throwing) this.throw(event.clientX, event.clientY);
    else choose(crowd.pick(stage.rayAt(event.clientX, event.clientY))?.id ?? 0);
  }

  #letGo() {
    if (this.#grip?.particle) this.#grip.particle.drop();
    else if (this.#grip !== null && this.#grip.joint !== null) this.#remove(this.#grip);
    this.#grip = null;
    this.line.visible = false;
    this.version++;
    this.viewer.stage.controls.enabled = true;
  }

  /** The place of what is gripped; null: it is gone. */
  #heldPlace(grip) {
    const { crowd, particles, mirror, moment } = this.viewer;
    if (grip.particle) return grip.particle.held(particles);
    const pose = crowd.poseOf(mirror(), moment(), grip.id);
    return pose === null ? null : grip.local.clone().applyQuaternion(pose.rotation).add(pose.position);
  }

  /** Called once per picture: moves the pointer's end of what holds, at most SENDS times a second. */
  pull(now) {
    const grip = this.#grip, { mirror, world } = this.viewer;
    if (grip === null || mirror() === null || grip.particle?.waits) return;
    const held = grip.world === world() ? this.#heldPlace(grip) : null;
    if (held === null) {
      this.#letGo();
      return;
    }
    this.line.geometry.setFromPoints([held, grip.target]);
    this.line.visible = true;
    this.version++;
    if (now - this.#sent < 1000 / SENDS) return;
    if (!this.viewer.connected()) return; // queued commands would all act at once after a reconnect
    const moved = grip.particle ? grip.particle.follow(held, grip.target) : this.#moveJoint(grip);
    if (moved === null) return;
    this.#sent = now;
    moved.catch((error) => {
      if (this.#grip !== grip) return;
      this.viewer.report(error);
      this.#letGo();
    });
  }

  #moveJoint(grip) {
    if (grip.joint === null || grip.target.equals(grip.sent)) return null;
    grip.sent.copy(grip.target);
    return grip.world.send(command("joint_move", { joint: grip.joint, point: grip.sent.toArray() }));
  }

  /** What is under a point of the window: the point of a body, or of the ground; null: neither. */
  pointAt(x, y) {
    const { stage, crowd } = this.viewer, raycaster = stage.rayAt(x, y), hit = crowd.pick(raycaster);
    if (hit !== null || stage.ground === null) return hit?.point ?? null;
    return raycaster.ray.intersectPlane(new Plane(new Vector3(0, 1, 0), -stage.ground), new Vector3());
  }

  /** Throws a ball at what is under a point of the window; where nothing is, as far as the camera's target. */
  async throw(x, y) {
    const { stage, crowd, world, report } = this.viewer, { ray } = stage.rayAt(x, y);
    const away = this.pointAt(x, y)?.distanceTo(ray.origin) ?? stage.camera.position.distanceTo(stage.controls.target);
    const middle = crowd.planar ? ray.distanceToPlane(new Plane(new Vector3(0, 0, 1))) : null;
    try {
      await throwBall(world(), ray, middle ?? away, crowd.planar);
    } catch (error) {
      report(error);
    }
  }

  /** Pushes a body along the view direction: its speed changes by PUSH. */
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
