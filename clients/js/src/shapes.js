/** Encodes and decodes canonical bytes of shapes (docs/PROTOCOL.md, "shapes"). Lengths in metres. */

export const KIND = { sphere: 1, capsule: 2, box: 3, hull: 4, plane: 5, mesh: 6, polygon: 7, solid: 8 };
const FORMS = ["", "hull", "parts", "field"];
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
/** Full sizes along the axes. */
export const box = (x, y, z) => build(KIND.box, [], [x / 2, y / 2, z / 2]);
/** The convex hull of [[x, y, z], …]; the server finds it. */
export const hull = (points) => build(KIND.hull, [points.length], points.flat());
/** The half-space normal · x ≤ offset; static bodies only. */
export const plane = (normal, offset = 0) => build(KIND.plane, [], [...normal, offset]);
/** A surface of triangles [[a, b, c], …], counter-clockwise from outside; static bodies only. */
export const mesh = (vertices, triangles) =>
  build(KIND.mesh, [vertices.length, triangles.length], vertices.flat(), triangles.flat());
/** A convex polygon of [[x, y], …] rounded by a radius; planar worlds only. */
export const polygon = (points, radius = 0) => build(KIND.polygon, [points.length], [radius, ...points.flat()]);

/**
 * A closed mesh that moves: as its hull, as convex parts (at most `detail`, each within `tolerance` metres) or as a distance
 * field of `detail` cells along its longest side; 0: the server chooses. Vertices at most `weld` metres apart are one.
 */
export function solid(vertices, triangles, { form = "hull", detail = 0, weld = 0, tolerance = 0 } = {}) {
  if (FORMS.indexOf(form) < 1) throw new TypeError(`there is no form ${form}; a solid has the form hull, parts or field`);
  const body = mesh(vertices, triangles), bytes = new Uint8Array(body.length + 20), view = new DataView(bytes.buffer);
  bytes.set([KIND.solid, 1, FORMS.indexOf(form), 0]);
  view.setUint16(4, detail, true);
  view.setFloat64(6, weld, true);
  view.setFloat64(14, tolerance, true);
  bytes.set(body.subarray(2), 22);
  return bytes;
}

/** Reads counts, vertices and triangles from byte `at`. */
function surface(view, at) {
  const vertices = view.getUint32(at, true), triangles = view.getUint32(at + 4, true), corners = at + 8 + vertices * 24;
  return {
    points: Float64Array.from({ length: vertices * 3 }, (_, i) => view.getFloat64(at + 8 + i * 8, true)),
    triangles: Uint32Array.from({ length: triangles * 3 }, (_, i) => view.getUint32(corners + i * 4, true)),
  };
}

/**
 * Decodes canonical bytes: {kind, radius?, halfLength?, half?, normal?, offset?, points?, triangles?, form?, detail?}; points and
 * triangles are flat typed arrays. An unknown kind gives {kind: ""}.
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
    case "plane": return { kind, normal: [real(0), real(1), real(2)], offset: real(3) };
    case "hull": return { kind, points: reals(6, view.getUint32(2, true) * 3) };
    case "polygon": return { kind, radius: view.getFloat64(6, true), points: reals(14, view.getUint32(2, true) * 2) };
    case "mesh": return { kind, ...surface(view, 2) };
    case "solid": return { kind, form: FORMS[bytes[2]] ?? "", detail: view.getUint16(4, true), ...surface(view, 22) };
    default: return { kind };
  }
}
