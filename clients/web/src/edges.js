/** Dark edges of boxes, hulls and meshes: instances of lines that share the poses of a batch of bodies. */
import { EdgesGeometry, LineBasicMaterial } from "three";

/** Edges between faces that meet at a smaller angle are not drawn, degrees. */
const SHARPEST = 25;
/** A shape with more triangles has no edges: they would cover its faces. */
const TRIANGLES_MAX = 4000;
const ROUND = ["sphere", "capsule", "plane"];

/** The edges of a geometry; null for shapes that have none. */
export function edgesOf(kind, geometry) {
  if (ROUND.includes(kind) || (geometry.index ?? geometry.attributes.position).count / 3 > TRIANGLES_MAX) return null;
  return new EdgesGeometry(geometry, SHARPEST);
}

/** @param mesh the Instances whose bodies get the edges */
export const edgeLines = (geometry, mesh, { colour, opacity }) =>
  mesh.lines(geometry, new LineBasicMaterial({ color: colour, transparent: true, opacity, depthWrite: false }));
