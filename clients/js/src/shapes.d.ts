import { Vector } from "./manifest.js";

export const KIND: {
  readonly sphere: 1, readonly capsule: 2, readonly box: 3, readonly hull: 4, readonly plane: 5, readonly mesh: 6,
  readonly polygon: 7, readonly solid: 8, readonly rounded: 9, readonly cylinder: 10, readonly cone: 11, readonly ellipsoid: 12,
  readonly heightfield: 13,
};
/** Canonical bytes (docs/SHAPES.md); m. */
export function sphere(radius: number): Uint8Array;
export function capsule(halfLength: number, radius: number): Uint8Array;
export function capsule(words: { length: number, radius: number }): Uint8Array;
/** Full sizes; a radius rounds outwards. */
export function box(x: number, y: number, z: number, radius?: number): Uint8Array;
export function hull(points: readonly Vector[], radius?: number): Uint8Array;
export function cylinder(length: number, radius: number): Uint8Array;
export function cone(length: number, radius: number): Uint8Array;
/** Full sizes. */
export function ellipsoid(x: number, y: number, z: number): Uint8Array;
export function plane(normal: Vector, offset?: number): Uint8Array;
export function mesh(vertices: readonly Vector[], triangles: readonly (readonly number[])[], patches?: readonly number[]): Uint8Array;
export function heightfield(heights: readonly (readonly number[])[], cell: number,
  options?: { cellZ?: number, holes?: readonly (readonly boolean[])[], patches?: readonly (readonly number[])[], apron?: boolean }): Uint8Array;
export function polygon(points: readonly (readonly number[])[], radius?: number): Uint8Array;
export function solid(vertices: readonly Vector[], triangles: readonly (readonly number[])[],
  options?: { form?: "hull" | "parts" | "field", detail?: number, weld?: number, tolerance?: number }): Uint8Array;
export interface Description {
  kind: "" | keyof typeof KIND, radius?: number, halfLength?: number, half?: number[], normal?: number[], offset?: number;
  points?: Float64Array, triangles?: Uint32Array, patches?: Uint8Array, form?: string, detail?: number;
  columns?: number, rows?: number, cell?: number[], apron?: boolean;
}
export function describe(bytes: Uint8Array): Description;
