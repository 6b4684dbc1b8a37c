/**
 * Draws the particles of the mirror: each system is one instanced mesh of small balls, coloured by age, fluids without colours of their own
 * by speed or depth. What the frames do not tell, the
 * systems' colours and links, the page asks for when a system comes, and from time to time while there are any. Linked particles are drawn
 * as the surface that their links span, ropes as lines.
 */
import { BufferAttribute, BufferGeometry, Color, DoubleSide, DynamicDrawUsage, Group, IcosahedronGeometry, InstancedMesh, LineBasicMaterial,
  LineSegments, Mesh, MeshLambertMaterial } from "three";
import { shadeOf, sharesOf } from "./fluid.js";
import { weaveOf } from "./weave.js";

/** Time between two queries for the systems, ms. */
const SYSTEMS_MS = 1000;
/** The colour of particles whose system has none. */
const PLAIN = new Color(0xcfd8dc);
/** Smallest drawn diameter, m, so that dust is seen. */
const SMALLEST = 0.004;
/** Written by draw. */
const shaded = new Color();

class Cloud {
  /** What is known of the system; null: nothing yet, or the world no longer has it. */
  system = null;
  colours = [PLAIN];
  ages = [];
  mesh = null;
  /** The links, when they have come, and how many there were; what they span. */
  links = null;
  linked = 0;
  weave = null;
  cloth = null;
  /** Whether it is a fluid; null: nothing known yet. */
  fluid = null;

  /** @returns {boolean} whether it looks otherwise than before */
  describe(system) {
    const before = this.system;
    this.system = system;
    if (`${before?.colours}` === `${system.colours}`) return false;
    this.ages = system.colours.map(([age]) => age);
    this.colours = [PLAIN, ...system.colours.map(([, colour]) => new Color(colour))];
    return true;
  }

  /** Takes the links between its particles; null: there are none. */
  tie(group, links) {
    this.links = links;
    this.weave = null;
    this.#unweave(group);
  }

  #unweave(group) {
    if (this.cloth === null) return;
    group.remove(this.cloth);
    this.cloth.geometry.dispose();
    this.cloth.material.dispose();
    this.cloth = null;
  }

  /** What the links span, at these places. A particle that died, or is not seen, is a gap in the serial numbers: then nothing is spanned. */
  #drawLinks(group, count, last, positions) {
    const whole = this.links !== null && count > 0 && last === count;
    if (whole && this.weave === null) {
      this.weave = weaveOf(this.links, positions);
      const { triangles, lines } = this.weave, colour = this.colours[Math.min(1, this.colours.length - 1)];
      const geometry = new BufferGeometry();
      geometry.setIndex(triangles.length > 0 ? triangles : lines);
      this.cloth = triangles.length > 0 ? new Mesh(geometry, new MeshLambertMaterial({ color: colour, side: DoubleSide }))
        : new LineSegments(geometry, new LineBasicMaterial({ color: colour }));
      Object.assign(this.cloth, { frustumCulled: false, castShadow: triangles.length > 0, receiveShadow: triangles.length > 0 });
      group.add(this.cloth);
    }
    if (this.cloth !== null) {
      this.cloth.visible = whole;
      this.cloth.geometry.setAttribute("position", new BufferAttribute(positions, 3));
      if (this.cloth.isMesh) this.cloth.geometry.computeVertexNormals();
    }
    this.mesh.visible = !(whole && this.cloth.isMesh);
  }

  /** A mesh with room for so many. */
  #reserve(group, count) {
    if (this.mesh !== null && this.mesh.instanceMatrix.count >= count) return;
    this.dispose(group);
    this.mesh = new InstancedMesh(new IcosahedronGeometry(1, 1), new MeshLambertMaterial(), Math.max(256, 2 * count));
    this.mesh.instanceMatrix.setUsage(DynamicDrawUsage);
    this.mesh.setColorAt(0, PLAIN);
    this.mesh.frustumCulled = false;
    group.add(this.mesh);
  }

  /** Draws particles first … end − 1 of the mirror; `rate`: ticks per second. */
  draw(group, { particles, tick }, first, end, rate, shade) {
    const { position, size, life, serial } = particles, count = end - first;
    this.#reserve(group, count);
    const matrices = this.mesh.instanceMatrix.array;
    const shares = this.fluid && shade !== "age" && this.ages.length === 0 ? sharesOf(shade, particles, first, end) : null;
    matrices.fill(0, 0, 16 * count);
    for (let i = 0; i < count; i++) {
      const from = first + i, at = 16 * i, radius = Math.max(size[2 * from], SMALLEST / 2), age = (tick - life[2 * from]) / rate;
      matrices[at] = matrices[at + 5] = matrices[at + 10] = radius;
      for (let axis = 0; axis < 3; axis++) matrices[at + 12 + axis] = position[3 * from + axis];
      matrices[at + 15] = 1;
      let begun = 0;
      while (begun < this.ages.length && this.ages[begun] <= age) begun++;
      this.mesh.setColorAt(i, shares === null ? this.colours[begun] : shadeOf(shares[i], shaded));
    }
    this.mesh.count = count;
    this.mesh.instanceMatrix.needsUpdate = true;
    this.mesh.instanceColor.needsUpdate = true;
    this.#drawLinks(group, count, count > 0 ? serial[end - 1] : 0, Float32Array.from(position.subarray(3 * first, 3 * end)));
  }

  dispose(group) {
    this.#unweave(group);
    this.weave = null;
    if (this.mesh === null) return;
    group.remove(this.mesh);
    this.mesh.geometry.dispose();
    this.mesh.material.dispose();
    this.mesh.dispose();
    this.mesh = null;
  }
}

export class Particles {
  #asked = -Infinity;
  #waiting = false;
  #clouds = new Map();
  /** The mirror that was drawn last, and its state then. */
  #mirror = null;
  #drawn = "";
  #shade = "speed";

  constructor(scene) {
    this.group = new Group();
    scene.add(this.group);
    /** Grows with each change of the drawing. */
    this.version = 0;
  }

  /** What colours fluids that have no colours of their own: "speed", "depth" or "age". */
  get shade() { return this.#shade; }
  set shade(shade) {
    this.#shade = shade;
    this.#drawn = "";
  }

  /** Particles drawn. */
  get count() { return [...this.#clouds.values()].reduce((sum, { mesh }) => sum + (mesh?.count ?? 0), 0); }

  /** Called once per picture: draws the mirror's particles if they have changed, and asks for their systems if that is due. */
  refresh(world, mirror, now) {
    if (mirror === null) return;
    const { systems, version } = mirror.particles, state = `${mirror.epoch}/${mirror.tick}/${version}`;
    if (mirror.whole && (state !== this.#drawn || mirror !== this.#mirror)) this.#draw(world, mirror, state);
    if (systems.size === 0 || this.#waiting || now - this.#asked < SYSTEMS_MS) return;
    this.#asked = now;
    this.#waiting = true;
    Promise.all([world.systems(), world.fluids().catch(() => [])]).then(([found, fluids]) => this.#take(world, found, fluids), () => {}).finally(() => { this.#waiting = false; });
  }

  #draw(world, mirror, state) {
    const { systems } = mirror.particles;
    this.#drawn = state;
    this.#mirror = mirror;
    for (const [id, cloud] of this.#clouds) {
      if (systems.has(id)) continue;
      cloud.dispose(this.group);
      this.#clouds.delete(id);
      this.version++;
    }
    for (const id of systems.keys()) {
      if (!this.#clouds.has(id)) {
        this.#clouds.set(id, new Cloud());
        this.#asked = -Infinity;
      }
      this.#clouds.get(id).draw(this.group, mirror, ...mirror.particles.range(id), world.rate, this.#shade);
      this.version++;
    }
  }

  /** Asks for links if their number has changed. */
  #tie(world, id, cloud) {
    const { links = 0 } = cloud.system;
    if (cloud.linked === links) return;
    cloud.linked = links;
    const tied = links > 0 ? world.links(id).catch(() => null) : Promise.resolve(null); // a server without links
    tied.then((found) => {
      if (this.#clouds.get(id) !== cloud) return;
      cloud.tie(this.group, found);
      this.#drawn = "";
    });
  }

  #take(world, systems, fluids) {
    for (const system of systems) {
      const cloud = this.#clouds.get(system.id);
      if (cloud === undefined) continue;
      const fluid = fluids.some(({ system: id }) => id === system.id);
      if (cloud.describe(system) || cloud.fluid !== fluid) this.#drawn = "";
      cloud.fluid = fluid;
      this.#tie(world, system.id, cloud);
    }
  }
}
