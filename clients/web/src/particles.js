/**
 * Draws particles: each system is one instanced mesh of small balls of its mean diameter, coloured by age. The page asks for the
 * systems from time to time, and, while there are any, for the places of their particles again as soon as they have come. Linked
 * particles are drawn as the surface that their links span, ropes as lines.
 */
import { BufferAttribute, BufferGeometry, Color, DoubleSide, DynamicDrawUsage, Group, IcosahedronGeometry, InstancedMesh, LineBasicMaterial,
  LineSegments, Matrix4, Mesh, MeshLambertMaterial } from "three";
import { weaveOf } from "./weave.js";

/** Times between two queries for the systems, and for the particles of one, ms. */
const SYSTEMS_MS = 1000, PARTICLES_MS = 30;
/** The colour of particles whose system has none. */
const PLAIN = new Color(0xcfd8dc);
/** Smallest drawn diameter, m, so that dust is seen. */
const SMALLEST = 0.004;

class Cloud {
  constructor(system) {
    this.system = system;
    this.colours = [PLAIN, ...system.colours.map(([, colour]) => new Color(colour))];
    this.mesh = null;
    this.asked = -Infinity;
    this.waiting = false;
    /** The world's state for which particles were asked for last. */
    this.state = "";
    /** The links, when they have come, and how many there were; what they span. */
    this.links = null;
    this.linked = 0;
    this.weave = null;
    this.cloth = null;
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

  /** What the links span, at these places. A particle that died has left a gap in the serial numbers: then nothing is spanned. */
  #drawLinks(group, { count, last, positions }) {
    const whole = this.links !== null && last === count;
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
    const room = Math.max(256, 2 * count), diameter = Math.max(this.system.size[0], SMALLEST);
    this.dispose(group);
    this.mesh = new InstancedMesh(new IcosahedronGeometry(diameter / 2, 1), new MeshLambertMaterial(), room);
    this.mesh.instanceMatrix.setUsage(DynamicDrawUsage);
    this.mesh.setColorAt(0, PLAIN);
    this.mesh.frustumCulled = false;
    group.add(this.mesh);
  }

  draw(group, view) {
    const { count, positions, colours } = view;
    const matrix = new Matrix4();
    this.#reserve(group, count);
    for (let i = 0; i < count; i++) {
      this.mesh.setMatrixAt(i, matrix.makeTranslation(positions[3 * i], positions[3 * i + 1], positions[3 * i + 2]));
      this.mesh.setColorAt(i, this.colours[Math.min(colours[i], this.colours.length - 1)]);
    }
    this.mesh.count = count;
    this.mesh.instanceMatrix.needsUpdate = true;
    this.mesh.instanceColor.needsUpdate = true;
    this.#drawLinks(group, view);
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

  constructor(scene) {
    this.group = new Group();
    scene.add(this.group);
    /** Grows with each change of the drawing. */
    this.version = 0;
  }

  /** Particles drawn. */
  get count() { return [...this.#clouds.values()].reduce((sum, { mesh }) => sum + (mesh?.count ?? 0), 0); }

  /** Called once per picture: asks for systems if that is due, and for particles if the world's state has changed. */
  refresh(world, mirror, now) {
    const state = `${mirror.epoch}/${mirror.tick}/${mirror.edit}`;
    for (const cloud of this.#clouds.values()) this.#ask(world, cloud, state, now);
    if (this.#waiting || now - this.#asked < SYSTEMS_MS) return;
    this.#asked = now;
    this.#waiting = true;
    world.systems().then((systems) => this.#take(world, systems), () => {}).finally(() => { this.#waiting = false; });
  }

  #ask(world, cloud, state, now) {
    if (cloud.waiting || cloud.state === state || now - cloud.asked < PARTICLES_MS) return;
    cloud.asked = now;
    cloud.state = state;
    cloud.waiting = true;
    const { id } = cloud.system;
    world.particlesView(id).then((view) => {
      if (this.#clouds.get(id) !== cloud) return;
      cloud.draw(this.group, view);
      this.version++;
    }, () => { cloud.state = ""; }).finally(() => { cloud.waiting = false; });
  }

  /** Asks for links if their number has changed. */
  #tie(world, cloud) {
    const { id, links = 0 } = cloud.system;
    if (cloud.linked === links) return;
    cloud.linked = links;
    const tied = links > 0 ? world.links(id).catch(() => null) : Promise.resolve(null); // a server without links
    tied.then((found) => {
      if (this.#clouds.get(id) !== cloud) return;
      cloud.tie(this.group, found);
      cloud.state = "";
      this.version++;
    });
  }

  /** Keeps the clouds of systems that look as before. */
  #take(world, systems) {
    const kept = new Map();
    for (const system of systems) {
      const cloud = this.#clouds.get(system.id);
      const same = cloud !== undefined && `${cloud.system.size}|${cloud.system.colours}` === `${system.size}|${system.colours}`;
      kept.set(system.id, same ? Object.assign(cloud, { system }) : new Cloud(system));
    }
    for (const [id, cloud] of this.#clouds) {
      if (kept.get(id) === cloud) continue;
      cloud.dispose(this.group);
      this.version++;
    }
    this.#clouds = kept;
    for (const cloud of kept.values()) this.#tie(world, cloud);
  }
}
