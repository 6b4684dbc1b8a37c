/** Encodes and decodes canonical bytes of shapes (docs/PROTOCOL.md, "shapes"). Lengths in metres. */

export const KIND = { sphere: 1, capsule: 2, box: 3, hull: 4, plane: 5, mesh: 6, polygon: 7, solid: 8, rounded: 9, cylinder: 10,
  cone: 11, ellipsoid: 12, heightfield: 13 };
const FORMS = ["", "hull", "parts", "field", "boxes"];
const NAMES = Object.fromEntries(Object.entries(KIND).map(([name, number]) => [number, name]));

function build(kind, counts, reals, integers = []) {
  const bytes = new Uint8Array(2 + counts.length * 4 + reals.length * 8 + integers.length * 4);
  const view = new DataView(bytes.buffer);
  let at = 2;
  bytes.set([kind, 1]);
  for (const count of counts) { view.setUint32(at, count, true); at += 4; }
  for (const real of reals) { view.setFloat64(at, real, true); at += 8; }
  for (const integer of integers) { view.setUint32(at, integer, true); at += 4; }
  return bytes;
}

export const sphere = (radius) => build(KIND.sphere, [], [radius]);
/** Axis along y, from −halfLength to halfLength; the caps extend beyond it by the radius. Or capsule({length, radius}), the words of
 * scenes, with length = 2 halfLength. */
export const capsule = (halfLength, radius) => typeof halfLength === "object"
  ? build(KIND.capsule, [], [halfLength.length / 2, halfLength.radius]) : build(KIND.capsule, [], [halfLength, radius]);
const ROUNDED = { box: 1, hull: 2 };

/** A rounded box or hull: form and radius, then the bytes of the core after its kind. */
function rounded(form, radius, core) {
  const bytes = new Uint8Array(core.length + 10);
  bytes.set([KIND.rounded, 1, form, 0]);
  new DataView(bytes.buffer).setFloat64(4, radius, true);
  bytes.set(core.subarray(2), 12);
  return bytes;
}

/** Full sizes along the axes. With a radius: rounded outwards, so the body is larger by the radius on every side. */
export function box(x, y, z, radius = 0) {
  const core = build(KIND.box, [], [x / 2, y / 2, z / 2]);
  return radius === 0 ? core : rounded(ROUNDED.box, radius, core);
}
/** The convex hull of [[x, y, z], …]; the server finds it. With a radius: rounded outwards. */
export function hull(points, radius = 0) {
  const core = build(KIND.hull, [points.length], points.flat());
  return radius === 0 ? core : rounded(ROUNDED.hull, radius, core);
}
/** Axis along y, flat ends at y = ±length / 2. */
export const cylinder = (length, radius) => build(KIND.cylinder, [], [length / 2, radius]);
/** Axis along y, the apex at y = length / 2, the base of that radius at y = −length / 2. */
export const cone = (length, radius) => build(KIND.cone, [], [length / 2, radius]);
/** Full sizes along the axes. */
export const ellipsoid = (x, y, z) => build(KIND.ellipsoid, [], [x / 2, y / 2, z / 2]);
/** The half-space normal · x ≤ offset; static bodies only. */
export const plane = (normal, offset = 0) => build(KIND.plane, [], [...normal, offset]);
/** A surface of triangles [[a, b, c], …], counter-clockwise from outside; static bodies only. `patches`: a number from 0 to 64 for
 * each triangle, by which set_piece gives it a material. */
export function mesh(vertices, triangles, patches = []) {
  if (patches.length > 0 && patches.length !== triangles.length)
    throw new RangeError(`${patches.length} patches for ${triangles.length} triangles: give one number each`);
  const surface = build(KIND.mesh, [vertices.length, triangles.length], vertices.flat(), triangles.flat());
  return patches.some((patch) => patch !== 0) ? Uint8Array.from([...surface, ...patches]) : surface;
}
const GRID = { holes: 1, apron: 2, patches: 4 };
/**
 * Rows along z of heights along x, in metres, y upwards, centred; static bodies only. Neighbouring samples are `cell` metres apart,
 * along z `cellZ`. `holes` and `patches`: rows with a value for each cell, true where there is no ground; a number from 0 to 64, by
 * which set_piece gives cells a material. `apron`: the outermost ring of samples is that of the tiles beside this one, and only
 * decides how bodies pass the border.
 */
export function heightfield(heights, cell, { cellZ = cell, holes = [], patches = [], apron = false } = {}) {
  const columns = heights[0].length, rows = heights.length, cells = (columns - 1) * (rows - 1);
  if (heights.some((row) => row.length !== columns)) throw new RangeError("the rows of heights have different lengths");
  const marks = holes.flat(), numbers = patches.flat(), holed = marks.some(Boolean), patched = numbers.some((number) => number !== 0);
  for (const layer of [marks, numbers])
    if (layer.length > 0 && layer.length !== cells)
      throw new RangeError(`${layer.length} values for ${columns - 1} × ${rows - 1} cells: give one each`);
  const end = 28 + 4 * columns * rows, after = end + (holed ? Math.ceil(cells / 8) : 0);
  const bytes = new Uint8Array(after + (patched ? cells : 0)), view = new DataView(bytes.buffer);
  bytes.set([KIND.heightfield, 1, (holed ? GRID.holes : 0) | (apron ? GRID.apron : 0) | (patched ? GRID.patches : 0), 0]);
  view.setUint32(4, columns, true);
  view.setUint32(8, rows, true);
  view.setFloat64(12, cell, true);
  view.setFloat64(20, cellZ, true);
  heights.flat().forEach((height, i) => view.setFloat32(28 + 4 * i, height, true));
  if (holed) marks.forEach((mark, i) => { bytes[end + (i >> 3)] |= (mark ? 1 : 0) << (i & 7); });
  if (patched) bytes.set(numbers, after);
  return bytes;
}
/** A convex polygon of [[x, y], …] rounded by a radius; planar worlds only. */
export const polygon = (points, radius = 0) => build(KIND.polygon, [points.length], [radius, ...points.flat()]);

/**
 * A closed mesh that moves: as its hull, as convex parts (at most `detail`, each within `tolerance` metres), as a distance
 * field of `detail` cells along its longest side, or as the boxes of its hierarchy at the depth `detail`; 0: the server chooses. Vertices at most `weld` metres apart are one.
 */
export function solid(vertices, triangles, { form = "hull", detail = 0, weld = 0, tolerance = 0 } = {}) {
  if (FORMS.indexOf(form) < 1) throw new TypeError(`there is no form ${form}; a solid has the form hull, parts, field or boxes`);
  const body = mesh(vertices, triangles), bytes = new Uint8Array(body.length + 20), view = new DataView(bytes.buffer);
  bytes.set([KIND.solid, 1, FORMS.indexOf(form), 0]);
  view.setUint16(4, detail, true);
  view.setFloat64(6, weld, true);
  view.setFloat64(14, tolerance, true);
  bytes.set(body.subarray(2), 22);
  return bytes;
}

/** Reads counts, vertices, triangles and, if they have any, their patches from byte `at`. */
function surface(view, at) {
  const vertices = view.getUint32(at, true), triangles = view.getUint32(at + 4, true), corners = at + 8 + vertices * 24;
  const end = corners + triangles * 12;
  return {
    ...(view.byteLength > end ? { patches: Uint8Array.from({ length: triangles }, (_, i) => view.getUint8(end + i)) } : {}),
    points: Float64Array.from({ length: vertices * 3 }, (_, i) => view.getFloat64(at + 8 + i * 8, true)),
    triangles: Uint32Array.from({ length: triangles * 3 }, (_, i) => view.getUint32(corners + i * 4, true)),
  };
}

/** The samples of a heightfield as points, and the triangles of the cells that are neither holes nor in the apron. */
function terrain(bytes, view) {
  const flags = bytes[2], columns = view.getUint32(4, true), rows = view.getUint32(8, true), wide = columns - 1;
  const cell = [view.getFloat64(12, true), view.getFloat64(20, true)], apron = (flags & GRID.apron) !== 0;
  const holes = 28 + 4 * columns * rows, patched = holes + (flags & GRID.holes ? Math.ceil(wide * (rows - 1) / 8) : 0);
  const points = new Float64Array(3 * columns * rows), triangles = [], patches = [];
  for (let k = 0; k < columns * rows; k++)
    points.set([(k % columns - 0.5 * wide) * cell[0], view.getFloat32(28 + 4 * k, true),
      (Math.floor(k / columns) - 0.5 * (rows - 1)) * cell[1]], 3 * k);
  const rim = apron ? 1 : 0;
  for (let z = rim; z < rows - 1 - rim; z++)
    for (let x = rim; x < wide - rim; x++) {
      const at = z * wide + x, a = z * columns + x, d = a + columns;
      if (flags & GRID.holes && (bytes[holes + (at >> 3)] >> (at & 7)) & 1) continue;
      triangles.push(a, d, d + 1, a, d + 1, a + 1);
      if (flags & GRID.patches) patches.push(bytes[patched + at], bytes[patched + at]);
    }
  return { columns, rows, cell, apron, points, triangles: Uint32Array.from(triangles),
    ...(flags & GRID.patches ? { patches: Uint8Array.from(patches) } : {}) };
}

/**
 * Decodes canonical bytes: {kind, radius?, halfLength?, half?, normal?, offset?, points?, triangles?, patches?, form?, detail?,
 * columns?, rows?, cell?, apron?}; points and triangles are flat typed arrays. An unknown kind gives {kind: ""}.
 */
export function describe(bytes) {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const kind = NAMES[bytes[0]] ?? "";
  const real = (i) => view.getFloat64(2 + i * 8, true);
  const reals = (at, count) => Float64Array.from({ length: count }, (_, i) => view.getFloat64(at + i * 8, true));
  switch (kind) {
    case "sphere": return { kind, radius: real(0) };
    case "capsule": return { kind, halfLength: real(0), radius: real(1) };
    case "box": return { kind, half: [real(0), real(1), real(2)] };
    case "cylinder": case "cone": return { kind, halfLength: real(0), radius: real(1) };
    case "ellipsoid": return { kind, half: [real(0), real(1), real(2)] };
    case "rounded": {
      const radius = view.getFloat64(4, true);
      if (bytes[2] === ROUNDED.box) return { kind, form: "box", radius, half: [...reals(12, 3)] };
      return { kind, form: "hull", radius, points: reals(16, view.getUint32(12, true) * 3) };
    }
    case "plane": return { kind, normal: [real(0), real(1), real(2)], offset: real(3) };
    case "hull": return { kind, points: reals(6, view.getUint32(2, true) * 3) };
    case "polygon": return { kind, radius: view.getFloat64(6, true), points: reals(14, view.getUint32(2, true) * 2) };
    case "mesh": return { kind, ...surface(view, 2) };
    case "heightfield": return { kind, ...terrain(bytes, view) };
    case "solid": return { kind, form: FORMS[bytes[2]] ?? "", detail: view.getUint16(4, true), ...surface(view, 22) };
    default: return { kind };
  }
}
