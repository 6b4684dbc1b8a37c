/**
 * Draws which bodies a mutual field draws together, while fields are shown: from each moving body of its mask, lines to the
 * nearest of those that it attracts. The server tells which bodies have the mask.
 */
import { BufferAttribute, BufferGeometry, Group, LineBasicMaterial, LineSegments } from "three";

const COLOUR = 0xffc46b;
/** Of each body: lines to so many. All pairs of a heap would hide it. */
export const NEAREST = 3;
/** Bodies of a field that are asked for. */
const BODIES_MAX = 1024;
const STATUS_DYNAMIC = 2;

/** Pairs [i, j], i < j, of places [x, y, z]: each with its nearest within `range`, at most NEAREST of them. */
export function pairsOf(places, range) {
  const pairs = new Set();
  places.forEach((own, i) => {
    const near = places.map((other, j) => ({ j, far: Math.hypot(other[0] - own[0], other[1] - own[1], other[2] - own[2]) }))
      .filter(({ j, far }) => j !== i && far <= range).sort((a, b) => a.far - b.far || a.j - b.j).slice(0, NEAREST);
    for (const { j } of near) pairs.add(Math.min(i, j) * places.length + Math.max(i, j));
  });
  return [...pairs].sort((a, b) => a - b).map((key) => [Math.floor(key / places.length), key % places.length]);
}

/** Where a body of the mirror is: null if it is not there, or does not move. */
function placeOf(mirror, id) {
  const slot = mirror.slots.get(id);
  return slot === undefined || mirror.status[2 * slot] !== STATUS_DYNAMIC ? null : mirror.position.subarray(3 * slot, 3 * slot + 3);
}

export class Pulls {
  /** [{pairs: [[id, id], …], lines}, …] */
  #drawn = [];
  #shown = "[]";

  constructor(group = new Group()) {
    this.group = group;
  }

  /** The bodies in a shape about the origin that each mutual field acts on: [[field, ids], …], as the server has them. */
  static ask(world, fields, shape) {
    return Promise.all(fields.filter(({ kind }) => kind === "mutual").map(async (field) =>
      [field, await world.overlap(shape, [0, 0, 0], undefined, { limit: BODIES_MAX, mask: field.mask })]));
  }

  /** Draws the answers. Whether the drawing is another one than before. */
  take(answers, mirror) {
    const drawn = answers.map(([field, found]) => {
      const ids = found.filter((id) => placeOf(mirror, id) !== null);
      const range = field.region === "ball" ? field.half[0] : Infinity;
      return pairsOf(ids.map((id) => placeOf(mirror, id)), range).map(([i, j]) => [ids[i], ids[j]]);
    });
    const shown = JSON.stringify(drawn);
    if (shown === this.#shown) return false;
    this.#shown = shown;
    this.group.traverse(({ geometry, material }) => { geometry?.dispose(); material?.dispose(); });
    this.group.clear();
    this.#drawn = drawn.map((pairs) => {
      const geometry = new BufferGeometry().setAttribute("position", new BufferAttribute(new Float32Array(6 * pairs.length), 3));
      const lines = new LineSegments(geometry, new LineBasicMaterial({ color: COLOUR, transparent: true, opacity: 0.8, depthTest: false }));
      Object.assign(lines, { frustumCulled: false, renderOrder: 1 });
      this.group.add(lines);
      return { pairs, lines };
    });
    this.move(mirror);
    return true;
  }

  /** Called once per picture. */
  move(mirror) {
    for (const { pairs, lines } of this.#drawn) {
      const at = lines.geometry.attributes.position;
      pairs.forEach((pair, i) => {
        const [a, b] = pair.map((id) => placeOf(mirror, id));
        const ends = a === null || b === null ? [[0, 0, 0], [0, 0, 0]] : [a, b];
        at.array.set(ends[0], 6 * i);
        at.array.set(ends[1], 6 * i + 3);
      });
      at.needsUpdate = pairs.length > 0;
    }
  }
}
