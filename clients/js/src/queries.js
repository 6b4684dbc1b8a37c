/**
 * All kinds of queries of a world (docs/PROTOCOL.md, "queries"). Lengths in metres, angles in radians, impulses in N s (those
 * of the last tick), energies in J; vectors are [x, y, z], rotations [w, x, y, z], ids are numbers.
 *
 * A `shape` is canonical bytes (shapes.js; no solid), or the name of a shape the world may use: its 32 bytes or their hex. A
 * refused query rejects with Refused: `unknown_body`, `unknown_shape`, `range` (with the number of the field), `busy` if too
 * many long queries wait, `limit` if too many bodies are within reach. The answer to `closest`, `cast`, `move` and `regions` may
 * come some ticks later; `dated` tells the tick that an answer describes.
 */
import { hex } from "./columns.js";
import { jointItemOf, jointOf } from "./joints.js";
import { COMMAND, QUERY, WORDS } from "./manifest.js";
import { checkFinite, checkQuery } from "./numbers.js";

const ALL_BITS = 0xffffffff;
/** Particles in one answer. */
const PARTICLES_PAGE = 2048;

/** A column of an answer as numbers; bytes are copied, because they need not be aligned. */
const whole = (bytes, Kind) => new Kind(new Uint8Array(bytes).buffer);

/** The columns of all pages as one. */
function joined(parts, Kind) {
  const all = new Kind(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    all.set(part, at);
    at += part.length;
  }
  return all;
}
const ABILITIES = ["friction", "restitution", "sleep", "planar", "spatial", "joints"];
const KNOWN = ["as_found", "unique", "not_determined", "least_norm"];
const MARKS = ["epoch", "snapshot", "commands"];
const QUANTITIES = ["x", "y", "z", "speed", "spin"];
/** Items in one page of a list that QUERY returns in pages. */
const PAGE = 1024;
const UPRIGHT = [1, 0, 0, 0];

const hitOf = ([body, placement, child, fraction, point, normal]) => ({ body, placement, child, fraction, point, normal });
const castOf = (hit) => ({ ...hitOf(hit), depth: hit[6], ownChild: hit[7] });
const sideOf = ([body, placement, child, point, vertices]) => ({ body, placement, child, point, vertices });
const moverOf = ([flags, ground, squeezes, normal, velocity, wish, stepHeight, slope, pushForce, snap]) => ({
  onGround: (flags & 1) > 0, blocked: (flags & 2) > 0, squeezed: (flags & 4) > 0, pushes: (flags & 8) > 0,
  rests: (flags & 16) > 0, ground, squeezes, normal, velocity, wish, stepHeight, slope, pushForce, snap });
const bytesOf = (name) =>
  typeof name === "string" ? Uint8Array.from(name.match(/../g) ?? [], (pair) => parseInt(pair, 16)) : name;

/** The base class of World. A subclass has `client` and `number`. */
export class Queries {
  /** Of the last answer to these queries: {epoch, tick}. */
  #state = { epoch: 0, tick: 0 };

  /**
   * Queries whose answer comes with the state that it describes: `await world.dated((queries) => queries.contacts())` is {answer, epoch,
   * tick}. Of an answer in several pages it is the state of the last one. Other queries may be under way at the same time.
   * @param ask is called with an object that has every query of this world
   */
  async dated(ask) {
    const queries = new Queries();
    Object.assign(queries, { client: this.client, number: this.number });
    const answer = await ask(queries);
    return { answer, ...queries.#state };
  }

  /** Sends QUERY [kind, …] (docs/PROTOCOL.md, "queries"). @returns the answer, not decoded further @throws {Refused} */
  async query(...query) {
    checkQuery(query);
    const { answer, epoch, tick } = await this.client.request("query", { world: this.number, query }, "answer", "id");
    this.#state = { epoch, tick };
    return answer;
  }

  /**
   * The hits of a ray, nearest first: [{body, placement, child, fraction, point, normal}, …].
   * @param {number[]} direction of any length but 0, which is refused
   * @param {number} length m; fraction 1 is its end
   * @param {{limit?, category?, mask?, ignore?}} options ignore: the id of a body to pass through
   */
  async ray(origin, direction, length, { limit = 1, category = ALL_BITS, mask = ALL_BITS, ignore = 0 } = {}) {
    return (await this.query(1, origin, direction, length, limit, category, mask, ignore)).map(hitOf);
  }

  /** Ids, ascending, of the bodies that a placed shape overlaps. */
  overlap(shape, position, rotation = UPRIGHT, { limit = 1024, category = ALL_BITS, mask = ALL_BITS, ignore = 0 } = {}) {
    return this.query(2, bytesOf(shape), position, rotation, limit, category, mask, ignore);
  }

  /** The colours of the bodies that have one. @returns {Promise<Map<number, number>>} id → 0xRRGGBB */
  async colours() {
    const found = new Map();
    for (let from = 0; ;) {
      const { value: runs } = await this.client.request("looks", { world: this.number, from }, "reply");
      for (const [first, count, colour] of runs) for (let id = first; id < first + count; id++) found.set(id, colour);
      if (runs.length < PAGE) return found;
      from = runs.at(-1)[0] + runs.at(-1)[1];
    }
  }

  /**
   * What pictures show of bodies in place of their shapes.
   * @returns {Promise<Map<number, {shape: string, position: number[], rotation: number[], colour: number|null}[]>>} by id; `shape` as
   *   geometry() takes it; place in body axes; colour null: the body's
   */
  async visuals() {
    return new Map((await this.#looks(1)).map(([id, list]) =>
      [id, list.map(([name, position, rotation, colour]) => ({ shape: hex(name), position, rotation, colour }))]));
  }

  /** The names of the bodies that have one. @returns {Promise<Map<number, string>>} by id */
  async names() {
    return new Map(await this.#looks(2));
  }

  /** The names of the joints that have one. @returns {Promise<Map<number, string>>} by id */
  async jointNames() {
    return new Map(await this.#looks(3));
  }

  /** All items of LOOKS, whose first element is an id. */
  async #looks(what) {
    const found = [];
    for (let from = 0; ;) {
      const { value: page } = await this.client.request("looks", { world: this.number, from, what }, "reply");
      if (page.length === 0) return found;
      found.push(...page);
      from = page.at(-1)[0] + 1;
    }
  }

  /** Ids, ascending, of the bodies that a sensor overlapped at the end of the last tick. */
  sensed(sensor, limit = 1024) {
    return this.query(QUERY.sensed, sensor, limit);
  }

  /**
   * Bodies that points carry (0: all, by rows, without the first `first`): [{body, points, off}, …]; off in m: the largest
   * distance of a point from its place in the body.
   */
  async carriers(body = 0, { limit = 1024, first = 0 } = {}) {
    return (await this.query(QUERY.carriers, body, limit, first)).map(([id, points, off]) => ({ body: id, points, off }));
  }

  /**
   * What pieces of a body have of their own, by piece and patch, without the first `first`: the fields of the commands set_piece
   * that give it to them, [{body, piece, own, patch, static_friction, …}, …].
   */
  async pieces(body, { limit = 4096, first = 0 } = {}) {
    const { fields } = COMMAND.set_piece;
    return (await this.query(QUERY.pieces, body, limit, first)).map(([, ...values]) =>
      Object.fromEntries(fields.map(([name, initial], i) => [name, values[i] ?? initial])));
  }

  /**
   * Contact points of a body, or (0) of all: [{a, b, childA, childB, point, normal, separation, impulse, friction}, …]. The
   * normal runs from a to b; a separation < 0 is a depth; friction is a vector, given with a contact's first point.
   */
  async contacts(body = 0, limit = 1024) {
    return (await this.query(3, body, limit)).map(
      ([a, b, childA, childB, point, normal, separation, impulse, friction]) =>
        ({ a, b, childA, childB, point, normal, separation, impulse, friction }));
  }

  /**
   * Forces (N, means over the last tick, on b) of the touching contact points of a body, or (0) of all: [{a, b, childA, childB,
   * point, normal, separation, force, friction, known}, …]; friction is a vector, given with a contact's first point. `known`:
   * "as_found" (not unique: what the method found), "unique", "not_determined" (the island is too large to examine),
   * "least_norm" (not unique: of the solution of least norm, if `leastNorm` asks for it).
   */
  async forces(body = 0, { leastNorm = false, limit = 1024 } = {}) {
    return (await this.query(QUERY.forces, body, limit, leastNorm ? 1 : 0)).map(
      ([a, b, childA, childB, point, normal, separation, force, friction, known]) =>
        ({ a, b, childA, childB, point, normal, separation, force, friction, known: KNOWN[known] }));
  }

  /**
   * Whether the bodies stand, taken at rest where they are: {verdict, forces, residual, kkt, gap, witness, rounds, fallbacks, bodies, points,
   * rows, lower, upper, stands, falling: [{body, acceleration, angular}, …], contacts: [{a, b, childA, childB, point, normal,
   * separation, force, friction, parting, breaks, known}, …], joints: [{joint, point, force, torque, known}, …], known, open}. `joints`: what they exert on their second
   * bodies about the anchors there (none from servers before them). With `lowest`: lowest, {drop (J), residual, limited, programmes,
   * bodies: [{body, rise, slope, across}, …]} (slopes along x and z). `known` as in forces(): of a force, and of all the least that is known;
   * `open` is how many contacts and joints have forces that are not unique (undefined from older servers). `verdict`: "falls", "stands", "may stand" (only forces that nothing builds
   * up) or "undecided". `margin`: "load" or "push" (N, of `body`) or "tilt" (tangent) along `direction`: how much is borne, with
   * Coulomb's friction (`stands`) and by limit analysis (`lower`, `upper`); Infinity without limit, undefined without `margin`.
   */
  async stability({ margin = "", body = 0, direction = [0, 0, 0], touch = 0, sides = 8, limit = 4096, lowest = false } = {}) {
    const kind = ["", "load", "push", "tilt"].indexOf(margin);
    const [verdict, law, quality, rounds, fallbacks, counts, bounds, falling, contacts, joints = [], least = [], sure = []] =
      await this.query(QUERY.stability, limit, touch, sides, kind, body, direction, lowest ? 1 : 0);
    const [lower, upper, stands] = kind > 0 ? bounds.map(bound => (bound >= 1e300 ? Infinity : bound)) : [];
    return {
      verdict: ["falls", "stands", "may stand", "undecided"][verdict],
      forces: ["settled", "coulomb", "associative"][law],
      residual: quality[0], kkt: quality[1], gap: quality[2], witness: quality[3], rounds, fallbacks,
      bodies: counts[0], points: counts[1], rows: counts[2], lower, upper, stands,
      falling: falling.map(([id, acceleration, angular]) => ({ body: id, acceleration, angular })),
      contacts: contacts.map(([a, b, childA, childB, point, normal, separation, force, friction, parting, breaks, known]) =>
        ({ a, b, childA, childB, point, normal, separation, force, friction, parting, breaks: breaks === 1, known: KNOWN[known] })),
      lowest: least.length === 0 ? undefined : { drop: least[0][0], residual: least[0][1], limited: least[1], programmes: least[2],
        bodies: least[3].map(([id, rise, slope, across = 0]) => ({ body: id, rise, slope, across })) },
      joints: joints.map(([joint, point, force, torque, known]) => ({ joint, point, force, torque, known: KNOWN[known] })),
      known: KNOWN[sure[0]], open: sure[1],
    };
  }

  /**
   * One joint: {id, type, passes, asleep, a, b, owner, tag, pointA, frameA, pointB, frameB, coordinates, force, torque,
   * anchorA, anchorB (m, world), breakForce, breakTorque, axes: [{mode, lower, upper, …} of six]}.
   */
  async joint(joint) {
    return jointOf(await this.query(QUERY.joint, joint));
  }

  /**
   * The joints of a body, or (0) all, by id: [{id, type, passes, asleep, a, b, coordinates, force, torque, anchorA, anchorB,
   * owner, tag}, …].
   */
  async joints(body = 0) {
    return (await this.#pages(QUERY.joints, body, ([id]) => id)).map(jointItemOf);
  }

  /**
   * The bodies that joints link with one (0: all dynamic ones) in reduced coordinates (docs/ROBOTS.md): {links: [{body, parent, joint, kind,
   * axes}, …], q, rates, accelerations, bias, forces, closureRows, closureRank, residual, regular}; `kind`: "base", "axes" or "ball".
   */
  async robot(body = 0) {
    const [links, q, rates, accelerations, bias, [closureRows, closureRank, residual], regular, forces] = await this.query(QUERY.robot, body);
    return {
      links: links.map(([id, parent, joint, kind, axes]) => ({ body: id, parent, joint, kind: ["base", "axes", "ball"][kind], axes })),
      q: whole(q, Float64Array), rates: whole(rates, Float64Array), accelerations: whole(accelerations, Float64Array),
      bias: whole(bias, Float64Array), forces: whole(forces, Float64Array), closureRows, closureRank, residual, regular: regular === 1,
    };
  }

  /** The mass matrix of a robot over the axes of its links: {axes, lower}, the lower triangle by rows. */
  async inertia(body) {
    const [axes, entries] = await this.query(QUERY.inertia, body);
    return { axes, lower: whole(entries, Float64Array) };
  }

  /** Six rows over the axes of its robot: the velocity of a point (m, world) of a body, and the body's spin. */
  async jacobian(body, position) {
    const [axes, entries] = await this.query(QUERY.jacobian, body, position);
    const values = whole(entries, Float64Array);
    return Array.from({ length: 6 }, (_, row) => values.slice(row * axes, (row + 1) * axes));
  }

  /**
   * Accelerations of the axes of robots under forces (N, N m) of their axes, in one round trip: `bodies` has one body of each robot,
   * `forces` the numbers of all their axes, one robot after another (none: 0); `still`: as if no body moved. [{values, closureRows,
   * closureRank, residual, regular}, …], one for each robot.
   */
  forwardDynamics(bodies, forces = [], { still = false } = {}) {
    return this.#dynamics(bodies, 0, forces, still);
  }

  /** The forces of axes that cause accelerations of axes (none: 0), as forwardDynamics. */
  inverseDynamics(bodies, accelerations = [], { still = false } = {}) {
    return this.#dynamics(bodies, 1, accelerations, still);
  }

  async #dynamics(bodies, inverse, values, still) {
    const ids = Uint32Array.from(bodies), numbers = Float64Array.from(values);
    numbers.forEach((value) => checkFinite("values", value));
    const [items, column] = await this.query(QUERY.dynamics, new Uint8Array(ids.buffer), inverse, new Uint8Array(numbers.buffer), still ? 1 : 0);
    const all = whole(column, Float64Array);
    let at = 0;
    return items.map(([axes, closureRows, closureRank, residual, regular]) =>
      ({ values: all.slice(at, at += axes), closureRows, closureRank, residual, regular: regular === 1 }));
  }

  /** Ids of all bodies connected to one by joints, itself included. */
  linked(body) {
    return this.#pages(QUERY.linked, body, (id) => id);
  }

  async #pages(kind, body, idOf) {
    const found = [];
    for (let first = 0; ;) {
      const items = await this.query(kind, body, PAGE, first);
      found.push(...items);
      if (items.length < PAGE) return found;
      first = idOf(items.at(-1)) + 1;
    }
  }

  /** The force fields by id: [{id, and the fields of the command field_create}, …]. */
  async fields() {
    const [, , items] = await this.query(QUERY.fields);
    return items.map(([id, kind, region, falloff, flags, power, mask, tag, position, rotation, half, strength, velocity, linear,
      quadratic, angular, core, density]) => ({
      id, kind: WORDS.field_kind[kind], region: WORDS.field_region[region], falloff: WORDS.field_falloff[falloff], flags, power,
      mask, tag, position, rotation, half, strength, velocity, linear, quadratic, angular, core, density,
    }));
  }

  /**
   * What all force fields together exert at a place (m) on a point of `mass` kg that moves at `velocity` (m/s): {acceleration
   * (m/s²), force (N, to be added)}.
   */
  async fieldForce(position, { velocity = [0, 0, 0], mass = 1 } = {}) {
    const [acceleration, force] = await this.query(QUERY.fields, position, velocity, mass);
    return { acceleration, force };
  }

  /**
   * The particle systems by id: [{id, name, owner, tag, emitter, counts (alive, capacity, born, lost, refused, cut), the numbers of
   * particles_create, particles_interact (substeps 0: not given), particles_split, particles_trail (trail 0: none),
   * particles_self, particles_limit and particles_emitter (mount 0: none; else position and rotation are in that body's axes), as [mean,
   * deviation] where they have one, colours: [[age (s), 0xRRGGBB], …], meets, of
   * particles_meet: [[other system, thickness, friction, overlap], …], taken: particles that sinks took, and sinks as particles_sink
   * made them: [{number, region, body, position, rotation, size, radius, taken, mass (kg)}, …]}, …].
   */
  async systems() {
    const names = ["id", "name", "owner", "tag", "emitter", "alive", "capacity", "born", "lost", "refused", "cut", "position", "rotation",
      "half", "size", "mass", "life", "speed", "spread", "drag", "gravity_scale", "category", "mask", "colours",
      "forces", "collisions", "substeps", "cutoff", "core", "charge", "gravitation", "well_depth", "well_distance", "repulsion",
      "repulsion_damping", "crowded", "links", "pins", "link_substeps", "torn", "stretch", "volume_error",
      "split_number", "split_age", "split_delay", "split_depth", "split_velocity", "split_spread", "split_burst", "split_size", "split_life",
      "split_spend", "splits", "trail", "trail_delay", "trail_depth", "trail_velocity", "contacts", "holds",
      "self_thickness", "self_friction", "self_overlap", "mount", "mount_velocity", "recoil", "room",
      "stretch_limit", "limit_passes", "meets", "taken", "sinks"];
    const sink = ["number", "region", "body", "position", "rotation", "size", "radius", "taken", "mass"];
    const items = await this.query(QUERY.systems);
    return items.map((item) => {
      const system = Object.fromEntries(names.map((name, i) => [name, item[i]]));
      const [forces, collisions] = [WORDS.interact[system.forces], WORDS.interact[system.collisions]];
      return { ...system, emitter: WORDS.emitter[system.emitter], forces, collisions, split_spend: WORDS.spend[system.split_spend], contacts: WORDS.contacts[system.contacts],
        recoil: WORDS.recoil[system.recoil], room: WORDS.room[system.room],
        sinks: system.sinks.map((one) => Object.fromEntries(sink.map((name, i) => [name, name === "region" ? WORDS.sink_region[one[i]] : one[i]]))) };
    });
  }

  /**
   * The particles of a system by serial number, exactly: {count, serials (BigUint64Array), positions, velocities (m, m/s; three numbers
   * each), radii, masses, ages (m, kg, s), Float64Arrays, generations (Uint8Array)}. Of a world that runs, the pages may be of different ticks.
   */
  async particles(system) {
    const pages = await this.#particlePages((after) => this.query(QUERY.particles, system, after, PARTICLES_PAGE, 0), ([, , serials]) => {
      const last = whole(serials, BigUint64Array);
      return last.length > 0 ? Number(last[last.length - 1]) : 0;
    });
    const column = (index, Kind) => joined(pages.map((page) => whole(page[index], Kind)), Kind);
    return {
      count: pages.reduce((sum, page) => sum + page[1], 0), serials: column(2, BigUint64Array), positions: column(3, Float64Array),
      velocities: column(4, Float64Array), radii: column(5, Float64Array), masses: column(6, Float64Array), ages: column(7, Float64Array),
      generations: column(8, Uint8Array),
    };
  }

  /**
   * The particles of a system for drawing, 7 bytes each on the wire: {count, last (serial number), positions (Float32Array, m), colours (Uint8Array: how many
   * of the system's colours have begun)}. Positions are within 1/65535 of the extent of their page.
   */
  async particlesView(system) {
    const pages = await this.#particlePages((after) => this.query(QUERY.particles, system, after, PARTICLES_PAGE, 1), (page) => page[2]);
    const count = pages.reduce((sum, page) => sum + page[1], 0), positions = new Float32Array(3 * count);
    let at = 0;
    for (const [, , , corner, step, places] of pages)
      for (const place of whole(places, Uint16Array)) positions[at] = corner[at++ % 3] + step * place;
    return { count, last: pages.at(-1)[2], positions, colours: joined(pages.map((page) => whole(page[6], Uint8Array)), Uint8Array) };
  }

  /**
   * The particle systems that are fluids: [{system, particles, solver, the numbers of particles_fluid, figures of the last tick}, …]
   * (docs/FLUIDS.md).
   */
  async fluids() {
    const names = ["system", "particles", "solver", "kernel_radius", "rest_density", "viscosity", "wall_viscosity", "surface_tension",
      "tolerance", "compression", "speed", "stiffness", "step_ratio", "substeps_max", "substeps", "iterations", "density_error",
      "density_error_max", "residual", "divergence_error", "speed_max", "capped", "unconverged", "inside", "crowded", "lost", "bad", "blocked",
      "unsampled", "coarse"];
    const items = await this.query(QUERY.fluids);
    return items.map((item) => {
      const fluid = Object.fromEntries(names.map((name, i) => [name, item[i]]));
      return { ...fluid, solver: ["explicit", "incompressible"][fluid.solver] };
    });
  }

  /**
   * The links between the particles of a system, in the order in which they are solved: five numbers each, kind (0 rod, 1 rope, 2
   * volume) and the serial numbers of its particles (0: none). @returns {Promise<Uint32Array>}
   */
  async links(system) {
    const pages = [];
    for (let after = 0; ; after += PARTICLES_PAGE) {
      const [count, numbers] = await this.query(QUERY.links, system, after, PARTICLES_PAGE);
      pages.push(whole(numbers, Uint32Array));
      if (count < PARTICLES_PAGE) return joined(pages, Uint32Array);
    }
  }

  async #particlePages(ask, lastOf) {
    const pages = [];
    for (let after = 0; ;) {
      const page = await ask(after);
      pages.push(page);
      if (page[1] < PARTICLES_PAGE) return pages;
      after = lastOf(page);
    }
  }

  /** Sums over all bodies: {kinetic, potential (J; zero at the origin), linear (N s), angular (N m s, about the origin)}. */
  async totals() {
    const [kinetic, potential, linear, angular] = await this.query(4);
    return { kinetic, potential, linear, angular };
  }

  /**
   * A body: {id, status, flags, owner, tag, position, rotation, velocity, spin, mass (kg), centre, shapes, mover}. `centre`
   * is the centre of mass in body axes; `shapes` is [{name (32 bytes), position, rotation}, …]; `mover` is null or
   * {onGround, blocked, squeezed, pushes, rests, ground (id or 0), squeezes (ticks without a place), normal, velocity (m/s, in
   * the air beside the wish), wish (m/s), stepHeight (m), slope (rad), pushForce (N), snap (m)}.
   */
  async facts(body) {
    const [id, status, flags, owner, tag, position, rotation, velocity, spin, mass, centre, placed = [],
      walker = null] = await this.query(5, body);
    const shapes = placed.map(([name, at, turn]) => ({ name, position: at, rotation: turn }));
    return { id, status, flags, owner, tag, position, rotation, velocity, spin, mass, centre, shapes,
      mover: walker && moverOf(walker) };
  }

  /** Canonical bytes of a shape by its name: 32 bytes, or their hex. */
  async geometry(name) {
    const bytes = bytesOf(name), parts = [];
    for (let part = 0, of = 1; part < of; part++) {
      const answer = await this.query(6, bytes, part);
      of = answer[1];
      parts.push(answer[2].slice());
    }
    const whole = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
    parts.reduce((at, part) => (whole.set(part, at), at + part.length), 0);
    return whole;
  }

  /**
   * The hits of a shape that moves along `way` (m) without turning, nearest first: as of `ray`, with depth (m; of an overlap at
   * the start, whose fraction is 0) and ownChild (the piece of the moving shape).
   */
  async cast(shape, position, way,
    { rotation = UPRIGHT, limit = 1, category = ALL_BITS, mask = ALL_BITS, ignore = 0 } = {}) {
    return (await this.query(7, bytesOf(shape), position, way, rotation, limit, category, mask, ignore)).map(castOf);
  }

  /**
   * The nearest points of two bodies; other = 0: of a body and the body nearest to it. null if no body is within `reach` (m).
   * {distance (< 0: a depth), normal, sides: [{body, placement, child, point, vertices}, …]}: one vertex names a corner, two an
   * edge, three a face.
   */
  async closest(body, other = 0, reach = 1000) {
    const answer = await this.query(8, body, other, reach);
    if (answer.length === 0) return null;
    return { distance: answer[0], normal: answer[1], sides: answer.slice(2, 4).map(sideOf) };
  }

  /**
   * Mass properties of a body, or (0) of all dynamic bodies together, about their centre in world axes: {mass (kg), centre,
   * inertia [xx, yy, zz, xy, xz, yz] (kg m²), moments (principal, largest first), axes (turns principal axes to the world's),
   * radius (m, of the sphere in which the body turns), bodies}.
   */
  async mass(body = 0) {
    const [mass, centre, inertia, moments, axes, radius, bodies] = await this.query(9, body);
    return { mass, centre, inertia, moments, axes, radius, bodies };
  }

  /**
   * Moves a character of this shape along `way` with sliding, without changing the world:
   * {position, left (m of the way that remain), grounded, stuck, iterations, climbed (m), ground (as in `cast`, or null), contacts}.
   * @param {{rotation?, iterations?, slope?, step?, skin?, category?, mask?, ignore?}} options iterations: straight pieces, at
   *   most 16; slope: cosine of the steepest ground; step: highest ledge (m) that it climbs; skin: distance (m) kept from obstacles
   */
  async move(shape, position, way, { rotation = UPRIGHT, iterations = 4, slope = 0.7, step = 0, skin = 0.001,
    category = ALL_BITS, mask = ALL_BITS, ignore = 0 } = {}) {
    const [to, left, flags, used, climbed, ground, contacts] = await this.query(10, bytesOf(shape), position, way, rotation,
      iterations, slope, step, skin, category, mask, ignore);
    return {
      position: to, left, grounded: (flags & 1) !== 0, stuck: (flags & 2) !== 0, iterations: used, climbed,
      ground: ground ? castOf(ground) : null, contacts: contacts.map(castOf),
    };
  }

  /**
   * All methods: [{number, name, motion, shapes, abilities: [word, …], why, summary, names: [{name, parameter, value}, …]}, …].
   * `why` is null if the world in its present state accepts the method, else the reason why it does not.
   */
  async methods() {
    return (await this.query(QUERY.methods)).map(([number, name, motion, shapes, abilities, code, why, summary, names]) => ({
      number, name, motion, shapes, abilities: ABILITIES.filter((_, bit) => (abilities >> bit) & 1), why: code ? why : null,
      summary, names: names.map(([other, parameter, value]) => ({ name: other, parameter, value })),
    }));
  }

  /** The parameters and their values: [{number, name, value, initial, least, most, whole, unit, methods, old, meaning}, …]. */
  async parameters() {
    return (await this.query(QUERY.parameters)).map(
      ([number, name, value, initial, least, most, whole, unit, methods, old, meaning]) =>
        ({ number, name, value, initial, least, most, whole: whole !== 0, unit, methods, old, meaning }));
  }

  /**
   * The regions in which two closed solids overlap, deepest first: [{placement, otherPlacement, depth, volume (m³), point,
   * otherPoint, normal, contours}, …]. Spheres, capsules and planes have no regions.
   */
  async regions(body, other, limit = 64) {
    return (await this.query(11, body, other, limit)).map(
      ([placement, otherPlacement, depth, volume, point, otherPoint, normal, contours]) =>
        ({ placement, otherPlacement, depth, volume, point, otherPoint, normal, contours }));
  }

  /**
   * What there is of the past: {epochs: [{epoch, first, last, cause}, …], spacing (ticks), keyframes, bytes, marks: [{epoch, tick,
   * kind, text}, …]}; spacing, keyframes and bytes are of the states in memory, kind is epoch, snapshot or commands.
   */
  async past(limit = 256) {
    const [epochs, [spacing, keyframes, bytes], marks] = await this.query(QUERY.past, limit);
    return {
      epochs: epochs.map(([epoch, first, last, cause]) => ({ epoch, first, last, cause })), spacing, keyframes, bytes,
      marks: marks.map(([epoch, tick, kind, text]) => ({ epoch, tick, kind: MARKS[kind], text })),
    };
  }

  /**
   * The first (or last) tick of the past at which a quantity (x, y, z in m, speed in m/s, spin in rad/s) of a body (0: of any) is
   * above or below a value: {epoch, tick, body, value, commands: [{session, batch, name}, …], contacts: [{body, impulse}, …]} with
   * what may have caused it, or null: never.
   */
  async when(quantity, { above, below, body = 0, last = false }) {
    const answer = await this.query(QUERY.when, body, QUANTITIES.indexOf(quantity), below === undefined ? 1 : 0,
      below ?? above, last ? 1 : 0);
    if (answer.length === 0) return null;
    const [epoch, tick, found, value, commands, contacts] = answer;
    return {
      epoch, tick, body: found, value, commands: commands.map(([session, batch, name]) => ({ session, batch, name })),
      contacts: contacts.map(([other, impulse]) => ({ body: other, impulse })),
    };
  }

  /**
   * The recordings of the world: [{name, title, since, bytes, first: {epoch, tick}, last: {epoch, tick}, running}, …], the running
   * one first; `since`: begun or written then, UTC.
   */
  async recordings(limit = 256) {
    const place = ([epoch, tick]) => ({ epoch, tick });
    return (await this.query(QUERY.recordings, limit)).map(([name, title, since, bytes, first, last, running]) =>
      ({ name, title, since, bytes, first: place(first), last: place(last), running: running !== 0 }));
  }

  /** The first difference between the states of two ticks of the past: {text, table, row, column}, or null: they are equal. */
  async difference(tick, otherTick, { epoch = 0, otherEpoch = 0 } = {}) {
    const [text, table, row, column] = await this.query(QUERY.difference, epoch, tick, otherEpoch, otherTick);
    return text === undefined ? null : { text, table, row, column };
  }
}
