/** Triangles of a shape from the description of its canonical bytes, in metres, in the shape's axes. */
import {
  BoxGeometry, BufferAttribute, BufferGeometry, CanvasTexture, CapsuleGeometry, ConeGeometry, CylinderGeometry, ExtrudeGeometry,
  PlaneGeometry, Quaternion, RepeatWrapping, SRGBColorSpace, Shape, SphereGeometry, Vector3,
} from "three";
import { ConvexGeometry } from "three/examples/jsm/geometries/ConvexGeometry.js";

/** Half-spaces are drawn as a square of this size, metres. */
const GROUND = 2000;
/** Size of the ground texture in metres, and its pixels per metre. */
const TILE = 10;
const TILE_PIXELS = 64;
const PLANAR_DEPTH = 0.5;
const ROUNDING_STEPS = 6;

let ground = null;

/** The texture of all half-spaces: a line for every metre, a stronger one for every ten. */
export function groundTexture() {
  if (ground !== null) return ground;
  const canvas = document.createElement("canvas");
  canvas.width = canvas.height = TILE * TILE_PIXELS;
  const context = canvas.getContext("2d");
  context.fillStyle = "#c8cdd2";
  context.fillRect(0, 0, canvas.width, canvas.height);
  for (let metre = 0; metre <= TILE; metre++) {
    const strong = metre % TILE === 0;
    context.fillStyle = strong ? "#ffffff" : "#dde2e7";
    const width = strong ? 3 : 1.5, at = metre * TILE_PIXELS - width / 2;
    context.fillRect(at, 0, width, canvas.height);
    context.fillRect(0, at, canvas.width, width);
  }
  ground = new CanvasTexture(canvas);
  ground.wrapS = ground.wrapT = RepeatWrapping;
  ground.repeat.set(GROUND / TILE, GROUND / TILE);
  ground.anisotropy = 2;
  ground.colorSpace = SRGBColorSpace;
  return ground;
}

function planeGeometry({ normal, offset }) {
  const n = new Vector3(...normal), geometry = new PlaneGeometry(GROUND, GROUND, 1, 1);
  geometry.applyQuaternion(new Quaternion().setFromUnitVectors(new Vector3(0, 0, 1), n));
  return geometry.translate(n.x * offset, n.y * offset, n.z * offset);
}

function meshGeometry({ points, triangles }) {
  const geometry = new BufferGeometry();
  geometry.setAttribute("position", new BufferAttribute(Float32Array.from(points), 3));
  geometry.setIndex(new BufferAttribute(triangles, 1));
  // Flat shading, because the collision geometry has flat faces.
  const flat = geometry.toNonIndexed();
  flat.computeVertexNormals();
  return flat;
}

function hullGeometry({ points }) {
  const corners = [];
  for (let i = 0; i < points.length; i += 3) corners.push(new Vector3(points[i], points[i + 1], points[i + 2]));
  return new ConvexGeometry(corners);
}

/** A convex polygon with its edges moved outwards by the radius and arcs at its corners. */
function polygonGeometry({ points, radius }) {
  const corners = [];
  for (let i = 0; i < points.length; i += 2) corners.push([points[i], points[i + 1]]);
  const area = corners.reduce((sum, [x, y], i) => {
    const [nx, ny] = corners[(i + 1) % corners.length];
    return sum + x * ny - y * nx;
  }, 0);
  if (area < 0) corners.reverse();
  const outline = [];
  const normalAngle = (i) => {
    const [ax, ay] = corners[(i + corners.length) % corners.length], [bx, by] = corners[(i + 1) % corners.length];
    return Math.atan2(-(bx - ax), by - ay);
  };
  corners.forEach(([x, y], i) => {
    const from = normalAngle(i - 1);
    const turn = (normalAngle(i) - from + 4 * Math.PI) % (2 * Math.PI);
    const steps = radius > 0 ? ROUNDING_STEPS : 0;
    for (let k = 0; k <= steps; k++) {
      const angle = from + turn * (steps > 0 ? k / steps : 0);
      outline.push([x + radius * Math.cos(angle), y + radius * Math.sin(angle)]);
    }
  });
  const shape = new Shape();
  outline.forEach(([x, y], i) => (i === 0 ? shape.moveTo(x, y) : shape.lineTo(x, y)));
  return new ExtrudeGeometry(shape, { depth: PLANAR_DEPTH, bevelEnabled: false }).translate(0, 0, -PLANAR_DEPTH / 2);
}

/** Directions of a sphere's surface for the sectors of a rounded hull. */
const ROUNDING_RINGS = 8;

/** The hull of balls at the core's corners. */
function roundedGeometry({ form, radius, half, points }) {
  const corners = form === "box"
    ? Array.from({ length: 8 }, (_, i) => [0, 1, 2].map((k) => ((i >> k) & 1 ? half[k] : -half[k])))
    : Array.from({ length: points.length / 3 }, (_, i) => [...points.slice(3 * i, 3 * i + 3)]);
  const rings = Math.max(3, Math.min(ROUNDING_RINGS, Math.floor(Math.sqrt(2000 / corners.length))));
  const around = [];
  for (let i = 0; i <= rings; i++) {
    const polar = (Math.PI * i) / rings, sine = Math.sin(polar), steps = i % rings === 0 ? 1 : 2 * rings;
    for (let k = 0; k < steps; k++) {
      const angle = (Math.PI * k) / rings;
      around.push([sine * Math.cos(angle), Math.cos(polar), sine * Math.sin(angle)]);
    }
  }
  return new ConvexGeometry(corners.flatMap((corner) =>
    around.map((d) => new Vector3(...corner.map((value, k) => value + radius * d[k])))));
}

const MAKERS = {
  sphere: ({ radius }) => new SphereGeometry(radius, 24, 16),
  capsule: ({ radius, halfLength }) => new CapsuleGeometry(radius, 2 * halfLength, 8, 16),
  box: ({ half }) => new BoxGeometry(2 * half[0], 2 * half[1], 2 * half[2]),
  cylinder: ({ radius, halfLength }) => new CylinderGeometry(radius, radius, 2 * halfLength, 32),
  cone: ({ radius, halfLength }) => new ConeGeometry(radius, 2 * halfLength, 32),
  ellipsoid: ({ half }) => new SphereGeometry(1, 24, 16).scale(...half),
  rounded: roundedGeometry,
  plane: planeGeometry,
  mesh: meshGeometry,
  heightfield: meshGeometry,
  // The mesh as uploaded; collision may use its hull or convex parts.
  solid: meshGeometry,
  hull: hullGeometry,
  polygon: polygonGeometry,
};

/** @param description of cairn-client's shapes.describe; an unknown kind is drawn as a small ball */
export function geometryOf(description) {
  const make = MAKERS[description.kind];
  return make ? make(description) : new SphereGeometry(0.1, 8, 6);
}
