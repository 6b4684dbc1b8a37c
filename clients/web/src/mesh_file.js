/** Mesh files as vertices and triangles. */
import { Box3, Vector3 } from "three";
import { OBJLoader } from "three/examples/jsm/loaders/OBJLoader.js";
import { PLYLoader } from "three/examples/jsm/loaders/PLYLoader.js";
import { STLLoader } from "three/examples/jsm/loaders/STLLoader.js";
import { mergeGeometries, mergeVertices } from "three/examples/jsm/utils/BufferGeometryUtils.js";

const BYTES_MAX = 32 << 20;
/** Vertices nearer than this share of the mesh's size are one. */
const WELD = 1e-6;

/** The meshes of an OBJ file as one geometry. */
function fromObj(bytes) {
  const found = [];
  new OBJLoader().parse(new TextDecoder().decode(bytes)).traverse(({ isMesh, geometry }) => { if (isMesh) found.push(geometry); });
  return found.length > 0 ? mergeGeometries(found.map(bare)) : null;
}

/** By the end of a file's name. */
export const READERS = {
  obj: fromObj,
  stl: (bytes) => new STLLoader().parse(bytes),
  ply: (bytes) => new PLYLoader().parse(bytes),
};
const KINDS = Object.keys(READERS).map((kind) => kind.toUpperCase()).join(", ");

/** The geometry with places alone, so that vertices which differ in normals or colours are the same. */
function bare(geometry) {
  for (const name of Object.keys(geometry.attributes)) if (name !== "position") geometry.deleteAttribute(name);
  return geometry;
}

/**
 * Reads a mesh file. @returns {{vertices: number[][], triangles: number[][], size: Vector3}} vertices about the middle of its box
 * @throws {Error} that names the file and what is wrong with it
 */
export function readMesh(name, bytes) {
  const kind = name.split(".").at(-1).toLowerCase();
  if (READERS[kind] === undefined) throw new Error(`${name} is no mesh that this page can read: ${KINDS}. cairn mesh reads more kinds.`);
  if (bytes.byteLength > BYTES_MAX) throw new Error(`${name} has ${bytes.byteLength} bytes, more than ${BYTES_MAX}.`);
  let geometry;
  try {
    geometry = READERS[kind](bytes);
  } catch (error) {
    throw new Error(`${name} could not be read as ${kind.toUpperCase()}: ${error.message}`);
  }
  const places = geometry?.attributes.position;
  if (!(places?.count >= 3)) throw new Error(`${name} has no triangles.`);
  if (!places.array.every(Number.isFinite)) throw new Error(`${name} has a coordinate that is not a finite number.`);
  const box = new Box3().setFromBufferAttribute(places), size = box.getSize(new Vector3()), middle = box.getCenter(new Vector3());
  if (kind === "ply" && geometry.index === null) throw new Error(`${name} has points and no triangles.`);
  const { index, attributes: { position } } = mergeVertices(bare(geometry), WELD * size.length());
  return {
    size,
    vertices: Array.from({ length: position.count }, (_, i) =>
      new Vector3().fromBufferAttribute(position, i).sub(middle).toArray()),
    triangles: Array.from({ length: index.count / 3 }, (_, i) => [...index.array.subarray(i * 3, i * 3 + 3)])
      .filter(([a, b, c]) => a !== b && b !== c && c !== a),
  };
}
