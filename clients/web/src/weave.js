/**
 * The surface that the links between particles span: of cloth the cells of its lattice, of jelly the outside of its tetrahedra, in
 * a planar world its triangles; and of what has none of these the links themselves, as lines. All by index of a particle, which is its serial number less one.
 */
const FIELDS = 5, ROPE = 1, VOLUME = 2, FACES = [[1, 2, 3, 0], [0, 3, 2, 1], [0, 1, 3, 2], [0, 2, 1, 3]];
/** A particle so near to the middle of a link, as a share of its length, is passed over by it (against bending). */
const PASSED = 0.3;

/** The faces of tetrahedra that belong to one only, turned outwards. */
function skinOf(volumes, place) {
  const faces = new Map();
  for (const ends of volumes)
    for (const [a, b, c, other] of FACES) {
      const key = [ends[a], ends[b], ends[c]].sort((x, y) => x - y).join();
      faces.set(key, faces.has(key) ? null : [ends[a], ends[b], ends[c], ends[other]]);
    }
  const triangles = [];
  for (const face of faces.values()) {
    if (face === null) continue;
    const [a, b, c, inner] = face, [p, q, r, s] = [a, b, c, inner].map(place);
    const out = dot(cross(minus(q, p), minus(r, p)), minus(s, p)) < 0;
    triangles.push(a, out ? b : c, out ? c : b);
  }
  return triangles;
}

const minus = (a, b) => [a[0] - b[0], a[1] - b[1], a[2] - b[2]];
const dot = (a, b) => a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
const cross = (a, b) => [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]];

/** A triangle of the plane x, y, towards z. */
function facing([a, b, c], place) {
  const [p, q, r] = [a, b, c].map(place);
  return cross(minus(q, p), minus(r, p))[2] < 0 ? [a, c, b] : [a, b, c];
}

/** The particles that each one is linked with. */
function neighboursOf(rods) {
  const near = new Map();
  for (const [a, b] of rods)
    for (const [from, to] of [[a, b], [b, a]]) near.set(from, (near.get(from) ?? new Set()).add(to));
  return near;
}

/** Whether a link passes over a particle that is linked with both its ends. */
function passesOver([a, b], near, place) {
  const [p, q] = [place(a), place(b)], middle = p.map((value, k) => (value + q[k]) / 2), length = dot(minus(p, q), minus(p, q));
  return [...near.get(a)].some((m) => {
    if (!near.get(b).has(m)) return false;
    const off = minus(place(m), middle);
    return dot(off, off) < PASSED * PASSED * length;
  });
}

/** Two triangles for each four particles that are all linked with each other, but for links against bending. */
function cellsOf(rods, place) {
  const all = neighboursOf(rods), near = neighboursOf(rods.filter((rod) => !passesOver(rod, all, place))), triangles = [];
  for (const [a, linked] of near) {
    const above = [...linked].filter((other) => other > a).sort((x, y) => x - y);
    for (const [i, b] of above.entries())
      for (const [j, c] of above.entries())
        for (const d of above.slice(j + 1))
          if (i < j && near.get(b).has(c) && near.get(b).has(d) && near.get(c).has(d)) triangles.push(a, b, d, a, d, c);
  }
  return triangles;
}

/**
 * @param links as World.links has them; @param positions of the particles, three numbers each
 * @returns {{triangles: number[], lines: number[]}} indices of particles; lines only without triangles
 */
export function weaveOf(links, positions) {
  const rods = [], lines = [], volumes = [], place = (i) => [positions[3 * i], positions[3 * i + 1], positions[3 * i + 2]];
  for (let at = 0; at < links.length; at += FIELDS) {
    const kind = links[at], ends = Array.from(links.subarray(at + 1, at + FIELDS), (serial) => serial - 1);
    if (kind === VOLUME) volumes.push(ends);
    else lines.push(ends[0], ends[1]);
    if (kind < ROPE) rods.push(ends);
  }
  const flat = volumes.filter(([, , , last]) => last < 0);
  const solid = volumes.length > 0 ? skinOf(volumes.filter(([, , , last]) => last >= 0), place) : cellsOf(rods, place);
  const triangles = solid.concat(flat.flatMap((ends) => facing(ends, place)));
  return { triangles, lines: triangles.length > 0 ? [] : lines };
}
