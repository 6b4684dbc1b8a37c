import { Rotation, Vector } from "./manifest.js";

/** A part of a world to watch. With `body` (an id; 0: none) its positions are relative to that body's position. */
export type Area = readonly [kind: number, numbers: readonly number[], body: number];
export function everything(): Area;
export function box(minimum: Vector, maximum: Vector, body?: number): Area;
export function ball(centre: Vector, radius: number, body?: number): Area;
export function frustum(eye: Vector, rotation: Rotation, halfWidth: number, halfHeight: number, near: number, far: number,
  body?: number): Area;
