/**
 * The pointer's grip of a particle: a spring between it and an animated body without shapes, which follows the pointer (command
 * particles_hold). The body belongs to the page's session and ends with it, and the hold ends with the body.
 */
import { command } from "cairn-client";

/** Frequency of the spring with the mass of the whole system, Hz, and its damping ratio with that mass, as far as the limit allows. */
const PULL = 5, DAMPING_MOST = 10;
/** Limit of its force, as a multiple of the system's weight (mass × 9.81 m/s²): it says how far the spring is drawn. */
const WEIGHTS = 10;
const STIFFNESS = (2 * Math.PI * PULL) ** 2;
const REACH = (WEIGHTS * 9.81) / STIFFNESS;
const ANIMATED = 3;

export class ParticleGrip {
  #body = null;
  #gone = false;
  #at;

  /** @param particle as Particles.pick() returns it */
  constructor(world, particle) {
    this.world = world;
    this.particle = particle;
    /** The pointer has not moved since it was pressed, and nothing is held yet. */
    this.waits = true;
    this.#at = particle.place.clone();
  }

  /** Where the particle is drawn; null: it is gone. */
  held(particles) { return particles.placeOf(this.particle.system, this.particle.serial); }

  /** Makes the body and the spring. */
  async take() {
    this.waits = false;
    const { world, particle: { system, serial, mass, whole } } = this;
    const made = await world.apply(
      command("spawn", { status: ANIMATED, position: this.#at.toArray(), mask: 0, owner: world.client.session, ends_with_owner: 1 }),
      command("particles_hold", { system, particle: serial, body: -1, place: 2, stiffness: STIFFNESS * whole,
        damping_ratio: Math.min(Math.sqrt(whole / mass), DAMPING_MOST) }));
    this.#body = made.values[0];
    if (this.#gone) this.drop();
  }

  /** Moves the body towards the pointer, as far as the spring may be drawn. @returns {Promise|null} null: it is there, or not yet made */
  follow(held, pointer) {
    if (this.#body === null) return null;
    const aim = pointer.clone().sub(held).clampLength(0, REACH).add(held);
    if (aim.equals(this.#at)) return null;
    this.#at = aim;
    return this.world.apply(command("set_pose", { body: this.#body, position: aim.toArray() }));
  }

  /** Ends the hold. */
  drop() {
    this.#gone = true;
    // The body may have been removed with its session.
    if (this.#body !== null) this.world.apply(command("remove", { body: this.#body })).catch(() => {});
    this.#body = null;
  }
}
