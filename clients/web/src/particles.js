/**
 * Draws the particles of the mirror: each system is one instanced mesh of small balls, coloured by age, fluids without colours of their own
 * by a quantity of fluid.js, as balls or as a surface (surface.js). What the frames do not tell, the
 * systems' colours and links, the page asks for when a system comes, and from time to time while there are any. Linked particles are drawn
 * as the surface that their links span, ropes as lines.
 */
import { BufferAttribute, BufferGeometry, Color, DoubleSide, DynamicDrawUsage, Group, IcosahedronGeometry, InstancedMesh, LineBasicMaterial,
  LineSegments, Mesh, MeshLambertMaterial, Vector3 } from "three";
import { numeral, scaleOf, shadeOf } from "./fluid.js";
import { Sinks } from "./sinks.js";
import { BALL, Surface } from "./surface.js";
import { weaveOf } from "./weave.js";

/** Time between two queries for the systems, ms. */
const SYSTEMS_MS = 1000;
/** The colour of particles whose system has none. */
const PLAIN = new Color(0xcfd8dc);
/** Smallest drawn diameter, m, so that dust is seen. */
const SMALLEST = 0.004;
const NONE = new Float64Array();
/** The colour of a surface whose system has none. */
const WATER = new Color(0x3c8fd0);
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
  /** Its facts as a fluid; null: it is none; undefined: nothing known yet. */
  fluid = undefined;
  /** What its colours mean (scaleOf), or null. */
  scale = null;
  /** Linked particles as they are drawn: places, serial numbers, radii and masses. */
  places = NONE;
  serials = NONE;
  sizes = NONE;

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
  draw(group, { particles, tick }, first, end, rate, shade, surface) {
    const { position, size, life, serial } = particles, count = end - first;
    this.#reserve(group, count);
    const matrices = this.mesh.instanceMatrix.array;
    this.scale = this.fluid && this.ages.length === 0 ? scaleOf(shade, particles, first, end, this.fluid.rest_density) : null;
    const plain = surface && this.fluid ? WATER : PLAIN;
    matrices.fill(0, 0, 16 * count);
    for (let i = 0; i < count; i++) {
      const from = first + i, at = 16 * i, radius = Math.max(size[2 * from], SMALLEST / 2), age = (tick - life[2 * from]) / rate;
      matrices[at] = matrices[at + 5] = matrices[at + 10] = radius;
      for (let axis = 0; axis < 3; axis++) matrices[at + 12 + axis] = position[3 * from + axis];
      matrices[at + 15] = 1;
      let begun = 0;
      while (begun < this.ages.length && this.ages[begun] <= age) begun++;
      this.mesh.setColorAt(i, this.scale !== null ? shadeOf(this.scale.shares[i], shaded) : begun === 0 ? plain : this.colours[begun]);
    }
    this.mesh.count = count;
    this.mesh.instanceMatrix.needsUpdate = true;
    this.mesh.instanceColor.needsUpdate = true;
    const places = Float32Array.from(position.subarray(3 * first, 3 * end)), linked = this.links !== null;
    this.places = linked ? places : NONE;
    this.serials = linked ? serial.slice(first, end) : NONE;
    this.sizes = linked ? size.slice(2 * first, 2 * end) : NONE;
    this.#drawLinks(group, count, count > 0 ? serial[end - 1] : 0, places);
    if (!this.fluid) return null;
    if (surface) this.mesh.visible = false;
    return { places, colours: this.mesh.instanceColor.array.subarray(0, 3 * count), radius: BALL * this.fluid.kernel_radius };
  }

  #placeAt(i) { return new Vector3().fromArray(this.places, 3 * i); }

  /** Where a particle is drawn, or null. */
  placeOf(serial) {
    const i = this.serials.indexOf(serial);
    return i < 0 ? null : this.#placeAt(i);
  }

  /** The vertex nearest to where a ray meets the drawn surface: its index, and how far along the ray that is; or null. */
  #onSurface(raycaster) {
    if (!this.cloth?.isMesh || !this.cloth.visible) return null;
    this.cloth.geometry.boundingSphere = this.cloth.geometry.boundingBox = null; // of places that it no longer has
    const [hit] = raycaster.intersectObject(this.cloth, false);
    if (hit === undefined) return null;
    const off = (i) => this.#placeAt(i).distanceTo(hit.point), { a, b, c } = hit.face;
    return { i: [a, b, c].reduce((best, other) => (off(other) < off(best) ? other : best)), along: hit.distance };
  }

  /** The particle nearest to a ray, or null: within its radius, or nearer than the ray `aside` is there. */
  #beside({ origin, direction }, aside) {
    const way = new Vector3(), limit = new Vector3();
    let nearest = null;
    for (let i = 0; i < this.serials.length; i++) {
      const along = way.fromArray(this.places, 3 * i).sub(origin).dot(direction), off = way.addScaledVector(direction, -along).length();
      const margin = aside.at(along, limit).sub(origin).addScaledVector(direction, -along).length();
      if (along > 0 && off <= Math.max(this.sizes[2 * i], margin) && off < (nearest?.off ?? Infinity)) nearest = { i, along, off };
    }
    return nearest;
  }

  /** As Particles.pick(), without the system. */
  pick(raycaster, aside) {
    const found = this.#onSurface(raycaster) ?? this.#beside(raycaster.ray, aside);
    if (found === null) return null;
    const { i } = found, radius = this.sizes[2 * i];
    let whole = 0;
    for (let k = 1; k < this.sizes.length; k += 2) whole += this.sizes[k];
    return { serial: this.serials[i], place: this.#placeAt(i), along: found.along - radius, mass: this.sizes[2 * i + 1], whole };
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

  /** @param renderer what draws surfaces of fluids; none: there are only balls */
  constructor(scene, renderer) {
    this.group = new Group();
    scene.add(this.group);
    this.sinks = new Sinks(scene);
    this.surface = new Surface(renderer);
    /** Grows with each change of the drawing. */
    this.version = 0;
  }

  /** What colours fluids that have no colours of their own: one of SHADES. */
  get shade() { return this.#shade; }
  set shade(shade) {
    this.#shade = shade;
    this.#drawn = "";
  }

  /** Whether the world has a fluid. */
  get fluids() { return [...this.#clouds.values()].some(({ fluid }) => fluid); }

  /** What the colours of fluids mean, as texts {low, high, unit}; null: there is no fluid with such colours. */
  get legend() {
    const scales = [...this.#clouds.values()].map(({ scale }) => scale).filter((scale) => scale !== null);
    if (scales.length === 0) return null;
    const low = Math.min(...scales.map((scale) => scale.low)), high = Math.max(...scales.map((scale) => scale.high));
    return { low: numeral(low), high: numeral(high), unit: scales[0].unit };
  }

  /** Particles drawn. */
  get count() { return [...this.#clouds.values()].reduce((sum, { mesh }) => sum + (mesh?.count ?? 0), 0); }

  /**
   * The linked particle under a ray that is nearest to its origin; null: none. One between the ray and another beside it is under it, too.
   * @returns {{system, serial, place, along, mass, whole}|null} place: where it is drawn; along: how far along the ray it begins, m;
   *   masses of the particle and of its system, kg
   */
  pick(raycaster, aside) {
    let best = null;
    for (const [system, cloud] of this.#clouds) {
      const found = cloud.pick(raycaster, aside);
      if (found !== null && (best === null || found.along < best.along)) best = { system, ...found };
    }
    return best;
  }

  /** Where a linked particle is drawn, or null. */
  placeOf(system, serial) { return this.#clouds.get(system)?.placeOf(serial) ?? null; }

  /** Called once per picture: draws the mirror's particles if they have changed, and asks for their systems if that is due. */
  refresh(world, mirror, now) {
    if (mirror === null) return;
    this.sinks.move(mirror);
    const { systems, version } = mirror.particles, state = `${mirror.epoch}/${mirror.tick}/${version}/${this.surface.on}`;
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
    const clouds = [];
    for (const id of systems.keys()) {
      if (!this.#clouds.has(id)) {
        this.#clouds.set(id, new Cloud());
        this.#asked = -Infinity;
      }
      const cloud = this.#clouds.get(id).draw(this.group, mirror, ...mirror.particles.range(id), world.rate, this.#shade, this.surface.on);
      if (cloud !== null) clouds.push(cloud);
      this.version++;
    }
    this.surface.fill(clouds);
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
    const before = this.sinks.version;
    this.sinks.take(systems);
    this.version += this.sinks.version - before;
    for (const system of systems) {
      const cloud = this.#clouds.get(system.id);
      if (cloud === undefined) continue;
      const fluid = fluids.find(({ system: id }) => id === system.id) ?? null;
      const same = Boolean(cloud.fluid) === (fluid !== null) && cloud.fluid?.kernel_radius === fluid?.kernel_radius &&
        cloud.fluid?.rest_density === fluid?.rest_density;
      if (cloud.describe(system) || !same) this.#drawn = "";
      cloud.fluid = fluid;
      this.#tie(world, system.id, cloud);
    }
  }
}
