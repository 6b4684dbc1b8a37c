/**
 * Types of cairn-client. Lengths in metres, angles in radians, masses in kg, impulses in N s; vectors are [x, y, z], rotations
 * [w, x, y, z]. Promises reject with Refused (the server's answer) or Closed.
 */
import {
  BodyStatus, Column, CommandFields, JointColumn, JointMode, JointMotor, JointSpring, JointType, JointWave, ParticleColumn, Rotation, StatusName,
  Vector,
} from "./manifest.js";

export {
  Attachment, BodyStatus, COLUMN, COMMAND, Column, CommandFields, JOINT_COLUMN, JointColumn, JointType, PARTICLE_COLUMN, ParticleColumn, Rotation, STATUS,
  StatusName, Vector,
} from "./manifest.js";
export * as areas from "./areas.js";
export * as shapes from "./shapes.js";

// ---- messages and errors ---------------------------------------------------------------------------

export class Refused extends Error {
  constructor(code: number, text: string, field?: string, index?: number);
  code: number;
  status: StatusName | string;
  /** The field refused, or "". */
  field: string;
  /** The item of a batch or list refused, or -1. */
  index: number;
}

/** A number that the server would refuse, of a command or a query; it was not sent. `status` is not_finite or range. */
export class BadNumber extends Refused {
  constructor(status: "not_finite" | "range", text: string, field: string);
}

export class Closed extends Error {
  constructor(text: string, status?: string | null);
  status: string | null;
}

/** Encodes the content of a message of docs/PROTOCOL.md. */
export function encode(name: string, values?: object): Uint8Array;
/** Decodes the content of a message: {type, …}. */
export function decode(content: Uint8Array): { type: string, [field: string]: any };

/** A command in wire form. */
export type Command = readonly unknown[];
/**
 * Makes a command. @throws {TypeError} for a field or word that is not known, or a field that is missing @throws {BadNumber} for a
 * number that is not finite or outside its limits
 */
export function command<Name extends keyof CommandFields>(name: Name, values: CommandFields[Name]): Command;

// ---- connecting ------------------------------------------------------------------------------------

/** A shape that pictures show of a body in place of its own. */
export interface Visual {
  shape: string;
  position: [number, number, number];
  rotation: [number, number, number, number];
  colour: number | null;
}

export interface TransportEvents { content(bytes: Uint8Array): void; closed(error: Closed): void }
export interface Transport { send(content: Uint8Array): void; close(): void; queued?(): number }

export interface ComeBackOptions {
  tries?: number;
  /** ms */
  firstWait?: number;
  /** ms */
  longestWait?: number;
  onWait?: (error: Error, ms: number) => void;
}

export interface ConnectOptions {
  /** A lower role than the connection would get. */
  role?: string;
  /** A connect token; a function is called before each new session, because a token opens only one. */
  token?: string | Uint8Array | (() => string | Uint8Array | Promise<string | Uint8Array>);
  /** The client's name in HELLO. */
  name?: string;
  /** After the connection is lost the server keeps the session for 30 s, for `resume`. */
  resumes?: boolean;
  /** As `resumes`, and the client calls `comeBack` itself. */
  reconnects?: boolean | ComeBackOptions;
  onClosed?: (error: Closed) => void;
  onBack?: (how: "resumed" | "joined") => void;
}

export type Mode = "running" | "paused" | "lockstep" | "barrier" | "failed";

export interface WorldOptions {
  /** Hz, or [ticks, seconds] */
  rate?: number | readonly [number, number];
  planar?: boolean;
  /** m/s² */
  gravity?: Vector;
  seed?: number;
  method?: string;
  broad_phase?: string;
  /** Which answers wait for the server's disk; the server's `--durability` when left out. */
  durability?: "off" | "tick" | "command";
  running?: boolean;
  [limit: string]: unknown;
}

/** Opens a session over ws: or wss:. In Node, cairn-client/tcp connects to tcp: and unix:. */
export function connect(address: string, options?: ConnectOptions): Promise<Client>;

export class Client {
  static over(open: (address: string, events: TransportEvents) => Promise<Transport>, address: string,
    options?: ConnectOptions): Promise<Client>;
  readonly address: string;
  readonly redirect: string;
  /** ms, of the last GOODBYE */
  readonly retry: number;
  readonly worlds: ReadonlyMap<number, World>;
  readonly session: number;
  readonly role: string;
  readonly welcome: { [field: string]: any };
  readonly bytesIn: number;
  readonly messagesIn: number;
  get connected(): boolean;
  close(): void;
  resume(): Promise<void>;
  rejoin(): Promise<World[]>;
  comeBack(options?: ComeBackOptions): Promise<"resumed" | "joined">;
  list(): Promise<{ world: number, name: string, mode: Mode, tick: number, bodies: number, [field: string]: any }[]>;
  info(what?: "" | "server" | "worlds" | "refused" | "quotas"): Promise<{ [section: string]: any }>;
  create(name: string, options?: WorldOptions): Promise<World>;
  scenes(): Promise<{ name: string, bytes: number, title: string }[]>;
  openScene(scene: string, name?: string, options?: OpenSceneOptions): Promise<World>;
  join(name: string): Promise<World>;
  stepWorlds(worlds: readonly World[], options?: StepWorldsOptions): Promise<SteppedWorlds>;
  /** ms */
  ping(): Promise<number>;
  /** Sends a message of docs/PROTOCOL.md. */
  send(name: string, values: object): void;
  request(name: string, values: object, answer: string, key?: string): Promise<any>;
  ask(name: string, values: object, answer: string, number: number, key?: string): Promise<any>;
  nextRef(): number;
}

// ---- many worlds ------------------------------------------------------------------------------------

/** In the place of a number, a vector or a rotation of a command. */
export const ACTION: unique symbol;
export type ObservedPart = [kind: number, items: unknown[], columns?: number];
export interface ObservedRay {
  origin: readonly number[], direction: readonly number[], length: number;
  body?: number, category?: number, mask?: number, ignore?: number;
}
export const observe: {
  bodies(ids: readonly number[], columns?: readonly ("position" | "rotation" | "velocity" | "spin" | "status")[]): ObservedPart;
  rays(...rays: ObservedRay[]): ObservedPart;
  contacts(pairs: readonly (readonly number[])[]): ObservedPart;
  joints(ids: readonly number[]): ObservedPart;
  totals(): ObservedPart;
};
export interface OpenSceneOptions {
  text?: Uint8Array, variables?: { [name: string]: number | string }, running?: boolean;
  base?: null | "fixed" | "floating", balance?: boolean; jointLinkShare?: number;
}
export interface StepWorldsOptions {
  actions?: readonly Command[], values?: readonly number[] | Float64Array, observe?: readonly ObservedPart[];
  ticks?: number, steps?: number, commands?: readonly (readonly Command[])[], hashes?: boolean, anyway?: boolean;
}
export interface SteppedWorlds {
  worlds: {
    world: World, epoch: number, tick: number, edit: number, steps: number, tickHash: Uint8Array | null,
    hash: Uint8Array | null, values: number[], error: Refused | null,
  }[];
  width: number;
  /** By world and step. */
  observations: Float64Array;
}

// ---- worlds ----------------------------------------------------------------------------------------

export interface Stepped {
  tick: number, edit: number, epoch: number;
  /** 8 bytes */
  hash: Uint8Array;
  tickHash: Uint8Array;
  /** The ids that the commands made. */
  values: number[];
  /** False: the state was to be kept (`save`), and is not: a limit, or no memory. */
  kept: boolean;
}
export interface Result { batch: number, tick: number, edit: number, values: number[] }
export interface State { epoch: number, tick: number, edit: number, hash: Uint8Array }

export interface Hit { body: number, placement: number, child: number, fraction: number, point: number[], normal: number[] }
export interface CastHit extends Hit { depth: number, ownChild: number }
export interface Filter { category?: number, mask?: number, ignore?: number }
export interface Contact {
  a: number, b: number, childA: number, childB: number, point: number[], normal: number[];
  separation: number, impulse: number, friction?: number[];
}
/** What is known of a force. */
export type Known = "as_found" | "unique" | "not_determined" | "least_norm";
export interface Stability {
  verdict: "falls" | "stands" | "may stand" | "undecided", forces: "settled" | "coulomb" | "associative";
  residual: number, kkt: number, gap: number, witness: number, rounds: number, fallbacks: number;
  bodies: number, points: number, rows: number, lower?: number, upper?: number, stands?: number;
  falling: { body: number, acceleration: number[], angular: number[] }[];
  contacts: {
    a: number, b: number, childA: number, childB: number, point: number[], normal: number[], separation: number,
    force: number, friction: number[], parting: number[], breaks: boolean, known?: Known,
  }[];
  joints: { joint: number, point: number[], force: number[], torque: number[], known?: Known }[];
  known?: Known, open?: number;
  lowest?: {
    drop: number, residual: number, limited: number, programmes: number,
    bodies: { body: number, rise: number, slope: number, across: number }[],
  };
}
export interface Force {
  a: number, b: number, childA: number, childB: number, point: number[], normal: number[];
  separation: number, force: number, friction: number[], known: Known;
}
export interface Place { epoch: number, tick: number }
/** What a request about a recording answers. */
export interface Recorded { name: string, first: Place, last: Place, bytes: number, data: Uint8Array }
export interface Recording {
  name: string, title: string, since: string, bytes: number, first: Place, last: Place, running: boolean;
}
export interface Fluid {
  system: number, particles: number, solver: "explicit" | "incompressible",
  kernel_radius: number, rest_density: number, viscosity: number, wall_viscosity: number, surface_tension: number,
  tolerance: number, compression: number, speed: number, stiffness: number, step_ratio: number,
  substeps_max: number, substeps: number, iterations: number, density_error: number, density_error_max: number,
  residual: number, divergence_error: number, speed_max: number, capped: number, unconverged: number,
  inside: number, crowded: number, lost: number, bad: number, blocked: number, unsampled: number,
  coarse: number,
}
export interface ParticleSystem {
  id: number, name: string, owner: number, tag: number, emitter: "none" | "point" | "planar" | "box" | "sphere", alive: number,
  capacity: number, born: number, lost: number, refused: number, cut: number, position: number[], rotation: number[], half: number[],
  size: [number, number], mass: [number, number], life: [number, number], speed: [number, number], spread: number, drag: number,
  gravity_scale: number, category: number, mask: number, colours: [number, number][],
  forces: Interact, collisions: Interact, substeps: number, cutoff: number, core: number, charge: number, gravitation: number,
  well_depth: number, well_distance: number, repulsion: number, repulsion_damping: number, crowded: number,
  links: number, pins: number, link_substeps: number, torn: number, stretch: number, volume_error: number,
  split_number: [number, number], split_age: [number, number], split_delay: number, split_depth: number,
  split_velocity: [number, number], split_spread: number, split_burst: [number, number], split_size: [number, number],
  split_life: [number, number], split_spend: string, splits: number,
  trail: number, trail_delay: number, trail_depth: number, trail_velocity: number, contacts: string, holds: number,
}
export type Interact = "none" | "internal" | "external" | "both";

export interface Field {
  id: number, kind: "wind" | "vortex" | "attractor" | "drag" | "fluid", region: "everywhere" | "ball" | "box";
  falloff: "constant" | "linear" | "components", flags: number, power: number, mask: number, tag: number;
  position: number[], rotation: number[], half: number[], strength: number[], velocity: number[];
  linear: number, quadratic: number, angular: number, core: number;
}
export interface Side { body: number, placement: number, child: number, point: number[], vertices: number[] }
export interface WorldEvent {
  kind: string, a: number, b: number, value: number, fraction: number, point: number[], normal: number[];
  childA: number, childB: number;
  /** m/s, of a hit */
  speed: number;
}
/** Bodies and joints in reduced coordinates. */
export interface Robot {
  links: { body: number, parent: number, joint: number, kind: "base" | "axes" | "ball", axes: number[] }[];
  q: Float64Array, rates: Float64Array, accelerations: Float64Array, bias: Float64Array, forces: Float64Array;
  closureRows: number, closureRank: number, residual: number;
  regular: boolean;
}
/** Accelerations (m/s², rad/s²) or forces (N, N m) of the axes of a robot. */
export interface RobotDynamics {
  values: Float64Array, closureRows: number, closureRank: number, residual: number;
  regular: boolean;
}
export interface Joint {
  id: number, type: JointType, passes: boolean, asleep: boolean, a: number, b: number, owner: number, tag: number;
  /** m, rad, by axis */
  coordinates: number[];
  /** N, N m */
  force: number[], torque: number[];
  anchorA: number[], anchorB: number[];
  [field: string]: any;
}

export interface SubscribeOptions {
  fields?: number | readonly Column[];
  profile?: number;
  divisor?: number;
  events?: number;
  areas?: readonly object[];
  follow?: readonly number[];
  /** bytes per second */
  budget?: number;
  joints?: number | readonly JointColumn[] | true;
  particles?: number | readonly ParticleColumn[] | true;
  /** of each system only particles whose serial number is a multiple of it */
  sample?: number;
  hash_every?: number;
  onFrame?: (mirror: Mirror, bytes: number, ms: number) => void;
  /** each message of a frame before it is applied; its bytes are valid during the call only */
  onMessage?: (message: object, past: boolean) => void;
  onEvents?: (tick: number, events: WorldEvent[]) => void;
  onNotice?: (notice: { skipped: number, lost: number, divisor: number }) => void;
  onRefused?: (error: Refused) => void;
  onSought?: (sought: Sought) => void;
  onEnd?: (error: Refused) => void;
}
export interface Sought { epoch: number, tick: number, speed: number, first: number, last: number, present: boolean }
export interface Subscription {
  readonly sub: number;
  readonly mirror: Mirror;
  readonly skipped: number;
  readonly lost: number;
  readonly bytes: number;
  readonly ms: number;
  /** It shows the past (World.seek). */
  readonly past: boolean;
  [field: string]: any;
}

/** What a mover does, and what it can (Queries.facts). */
export interface Mover {
  onGround: boolean, blocked: boolean, squeezed: boolean, pushes: boolean, rests: boolean, ground: number, squeezes: number,
  normal: number[], velocity: number[], wish: number[], stepHeight: number, slope: number, pushForce: number, snap: number;
}

/** The queries of a world (queries.js). */
export interface Queries {
  /** Queries whose answer comes with the state that it describes, while others are under way. */
  dated<T>(ask: (queries: Queries) => Promise<T>): Promise<{ answer: T, epoch: number, tick: number }>;
  query(...query: unknown[]): Promise<any>;
  ray(origin: Vector, direction: Vector, length: number, options?: Filter & { limit?: number }): Promise<Hit[]>;
  overlap(shape: Uint8Array | string, position: Vector, rotation?: Rotation, options?: Filter & { limit?: number }):
    Promise<number[]>;
  sensed(sensor: number, limit?: number): Promise<number[]>;
  carriers(body?: number, options?: { limit?: number, first?: number }): Promise<{ body: number, points: number[], off: number }[]>;
  pieces(body: number, options?: { limit?: number, first?: number }): Promise<Required<Omit<CommandFields["set_piece"], "friction">>[]>;
  colours(): Promise<Map<number, number>>;
  visuals(): Promise<Map<number, Visual[]>>;
  names(): Promise<Map<number, string>>;
  jointNames(): Promise<Map<number, string>>;
  contacts(body?: number, limit?: number): Promise<Contact[]>;
  stability(options?: {
    margin?: "" | "load" | "push" | "tilt", body?: number, direction?: Vector, touch?: number, sides?: number, limit?: number,
    lowest?: boolean,
  }): Promise<Stability>;
  forces(body?: number, options?: { leastNorm?: boolean, limit?: number }): Promise<Force[]>;
  joint(joint: number): Promise<Joint>;
  joints(body?: number): Promise<Joint[]>;
  linked(body: number): Promise<number[]>;
  robot(body?: number): Promise<Robot>;
  inertia(body: number): Promise<{ axes: number, lower: Float64Array }>;
  jacobian(body: number, position: Vector): Promise<Float64Array[]>;
  forwardDynamics(bodies: Iterable<number>, forces?: Iterable<number>, options?: { still?: boolean }): Promise<RobotDynamics[]>;
  inverseDynamics(bodies: Iterable<number>, accelerations?: Iterable<number>, options?: { still?: boolean }): Promise<RobotDynamics[]>;
  fields(): Promise<Field[]>;
  systems(): Promise<ParticleSystem[]>;
  fluids(): Promise<Fluid[]>;
  particles(system: number): Promise<{
    count: number, serials: BigUint64Array, positions: Float64Array, velocities: Float64Array, radii: Float64Array, masses: Float64Array,
    ages: Float64Array,
  }>;
  links(system: number): Promise<Uint32Array>;
  particlesView(system: number): Promise<{ count: number, last: number, positions: Float32Array, colours: Uint8Array }>;
  fieldForce(position: Vector, options?: { velocity?: Vector, mass?: number }): Promise<{ acceleration: number[], force: number[] }>;
  totals(): Promise<{ kinetic: number, potential: number, linear: number[], angular: number[] }>;
  facts(body: number): Promise<{
    id: number, status: number, flags: number, owner: number, tag: number, position: number[], rotation: number[],
    velocity: number[], spin: number[], mass: number, centre: number[],
    shapes: { name: Uint8Array, position: number[], rotation: number[] }[], mover: Mover | null,
  }>;
  geometry(name: Uint8Array | string): Promise<Uint8Array>;
  cast(shape: Uint8Array | string, position: Vector, way: Vector,
    options?: Filter & { rotation?: Rotation, limit?: number }): Promise<CastHit[]>;
  closest(body: number, other?: number, reach?: number):
    Promise<{ distance: number, normal: number[], sides: [Side, Side] | Side[] } | null>;
  mass(body?: number): Promise<{
    mass: number, centre: number[], inertia: number[], moments: number[], axes: number[], radius: number, bodies: number,
  }>;
  move(shape: Uint8Array | string, position: Vector, way: Vector, options?: Filter & {
    rotation?: Rotation, iterations?: number, slope?: number, step?: number, skin?: number,
  }): Promise<{
    position: number[], left: number[], grounded: boolean, stuck: boolean, iterations: number, climbed: number,
    ground: CastHit | null, contacts: CastHit[],
  }>;
  regions(body: number, other: number, limit?: number): Promise<{
    placement: number, otherPlacement: number, depth: number, volume: number, point: number[], otherPoint: number[],
    normal: number[], contours: any,
  }[]>;
  methods(): Promise<{
    number: number, name: string, motion: number, shapes: number, abilities: string[], why: string | null, summary: string,
    names: { name: string, parameter: string, value: number }[],
  }[]>;
  parameters(): Promise<{
    number: number, name: string, value: number, initial: number, least: number, most: number, whole: boolean, unit: string,
    methods: string, old: any, meaning: string,
  }[]>;
  recordings(limit?: number): Promise<Recording[]>;
  past(limit?: number): Promise<{
    epochs: { epoch: number, first: number, last: number, cause: string }[], spacing: number, keyframes: number,
    bytes: number, marks: { epoch: number, tick: number, kind: "epoch" | "snapshot" | "commands", text: string }[],
  }>;
  when(quantity: "x" | "y" | "z" | "speed" | "spin",
    condition: { above?: number, below?: number, body?: number, last?: boolean }): Promise<{
      epoch: number, tick: number, body: number, value: number, commands: { session: number, batch: number, name: string }[],
      contacts: { body: number, impulse: number }[],
    } | null>;
  difference(tick: number, otherTick: number, epochs?: { epoch?: number, otherEpoch?: number }):
    Promise<{ text: string, table: string, row: number, column: string } | null>;
}

export interface World extends Queries {}
export class World {
  constructor(client: Client, info: object);
  readonly client: Client;
  readonly number: number;
  readonly name: string;
  readonly epoch: number;
  readonly tick: number;
  /** Hz */
  readonly rate: number;
  readonly method: string;
  /** Of openScene: what a robot file asks for and does not get. */
  readonly notes: readonly string[];
  readonly mode: Mode;
  readonly bodies: number;
  readonly subscriptions: ReadonlyMap<number, Subscription>;
  readonly shapeIds: ReadonlyMap<string, number>;
  onInfo: (world: World) => void;
  refresh(): Promise<void>;
  control(action: "pause" | "resume" | "speed" | "lockstep" | "barrier", value?: number): Promise<void>;
  step(n?: number, commands?: readonly Command[], moments?: { restore?: string, save?: string }): Promise<Stepped>;
  nextStep(): number;
  destroy(): Promise<void>;
  save(name: string, options?: { rollback?: boolean }): Promise<State>;
  restore(name: string | null, past?: { tick?: number | null, epoch?: number, rollback?: boolean }): Promise<State & { otherBits: boolean }>;
  restart(): Promise<State & { otherBits: boolean }>;
  stepBack(ticks?: number): Promise<State & { otherBits: boolean }>;
  fork(name: string, snapshot?: string, past?: { tick?: number | null, epoch?: number, recording?: string }): Promise<World>;
  seek(subscription: Subscription, tick?: number | null, options?: { speed?: number, epoch?: number, recording?: string }): Promise<Sought>;
  record(name: string, options?: { title?: string, seconds?: number, bytes?: number }): Promise<Recorded>;
  stopRecording(name?: string): Promise<Recorded>;
  saveRecording(name: string, options?: { title?: string, tick?: number | null, epoch?: number }): Promise<Recorded>;
  removeRecording(name: string): Promise<void>;
  readRecording(name: string): Promise<Uint8Array>;
  send(...commands: Command[]): Promise<Result>;
  apply(...commands: Command[]): Promise<Result | Stepped>;
  shape(data: Uint8Array): Promise<number>;
  spawn(fields: Partial<CommandFields["spawn"]>): Promise<number>;
  push(body: number, vector: Vector, options?: { impulse?: boolean, point?: Vector, ticks?: number }): Promise<Result | Stepped>;
  subscribe(options?: SubscribeOptions): Promise<Subscription>;
  focus(subscription: Subscription, part?: { areas?: readonly object[], follow?: readonly number[], area?: object | null }): void;
  resync(subscription: Subscription): void;
  unsubscribe(subscription: Subscription): Promise<void>;
}

// ---- mirrors ---------------------------------------------------------------------------------------

export interface MirrorBody {
  id: number;
  position?: number[], rotation?: number[], velocity?: number[], spin?: number[];
  status?: BodyStatus, asleep?: boolean, fast?: boolean, sensor?: boolean, quarantine?: boolean;
  owner?: number, tag?: number;
  shapes?: any, contacts?: any;
}

/** The bodies of a subscription as flat arrays: column c of slot s is c.width items from s × c.width. */
export class Mirror {
  constructor(fields: number, profile: number, joints?: number, particles?: number);
  readonly fields: number;
  readonly profile: number;
  readonly columns: readonly { name: Column, bit: number, width: number }[];
  readonly epoch: number;
  readonly tick: number;
  readonly edit: number;
  readonly frames: number;
  readonly whole: boolean;
  readonly partial: boolean;
  readonly hash: Uint8Array | null;
  readonly hashOfTick: boolean;
  readonly capacity: number;
  readonly slots: ReadonlyMap<number, number>;
  /** All slots in use are below this; ids[slot] is 0 for a free one. */
  readonly end: number;
  readonly ids: Uint32Array;
  readonly removed: readonly number[];
  readonly position?: Float64Array;
  readonly rotation?: Float64Array;
  readonly velocity?: Float64Array;
  readonly spin?: Float64Array;
  readonly status?: Uint8Array;
  readonly joints: Joints;
  readonly particles: Particles;
  /** Slots that the last frame changed. */
  get changed(): Uint32Array;
  get count(): number;
  take(message: object): boolean;
  body(id: number): MirrorBody | null;
}

export class Joints {
  constructor(columns: number, form: "plain" | "exact" | "short");
  readonly items: ReadonlyMap<number, Joint>;
  readonly hash: Uint8Array | null;
  readonly changed: readonly number[];
  readonly removed: readonly number[];
  empty(): void;
  begin(): void;
  take(message: object): void;
  write(out: object, joint: object): void;
}

/** Particles in order of (system, serial number), as flat arrays; only subscribed columns are there. */
export class Particles {
  constructor(columns: number, profile: "plain" | "exact" | "view" | "sim");
  /** Particles that each system of the world has. */
  readonly systems: ReadonlyMap<number, number>;
  readonly hash: Uint8Array | null;
  readonly version: number;
  get count(): number;
  get system(): Float64Array;
  get serial(): Float64Array;
  /** m/s, three numbers each */
  get velocity(): Float64Array | undefined;
  /** m, three numbers each */
  get position(): Float64Array | undefined;
  /** radius m, mass kg */
  get size(): Float64Array | undefined;
  /** ticks of birth and death; death 0: never */
  get life(): Float64Array | undefined;
  /** of the fluid there, kg/m3; 0: of no fluid */
  get density(): Float64Array | undefined;
  /** of the fluid there, Pa; 0: of no fluid */
  get pressure(): Float64Array | undefined;
  /** Indices [first, end) of a system's particles. */
  range(system: number): [number, number];
  empty(): void;
  begin(): void;
  take(message: object): void;
  write(out: object, index: number): void;
}

/** Compares the mirror with the hash that the server sent; null: it sent none. */
export function isRight(mirror: Mirror): boolean | null;
export function tickHash(mirror: Mirror): Uint8Array;
export function viewHash(mirror: Mirror): Uint8Array;
export function jointsHash(mirror: Mirror): Uint8Array;
export function particlesHash(mirror: Mirror): Uint8Array;

// ---- constants -------------------------------------------------------------------------------------

export const PROFILE: { readonly plain: 0, readonly exact: 1, readonly view: 2, readonly sim: 3 };
export const FLAG: { readonly asleep: 1, readonly quarantine: 2, readonly fast: 4, readonly sensor: 8 };
export const ALL: number;
export const ALL_EVENTS: number;
export const ALL_JOINTS: number;
export const ALL_PARTICLES: number;
export const EVENTS: readonly string[];
export const MODES: readonly Mode[];
export const STATUSES: readonly BodyStatus[];
export const COLUMNS: readonly { name: Column, bit: number, width: number }[];
export const JOINT_TYPES: readonly (JointType | "")[];
export const JOINT_MODES: readonly JointMode[];
export const JOINT_SPRINGS: readonly JointSpring[];
export const JOINT_MOTORS: readonly JointMotor[];
export const JOINT_WAVES: readonly JointWave[];
