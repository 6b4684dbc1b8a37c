/** Where the picture's middle is: the part of the window that panels leave free, and how far the camera has to stand back. */
import { Vector3 } from "three";

/** Share of the free part that is left empty around what is shown. */
const MARGIN = 0.14;
/** Free sides smaller than this share of the window are not used. */
const LEAST = 0.3;
/** Panels at the left side. */
const SIDES = ["physics", "bodies", "plots", "layers"];

/** The rectangle between the visible panels: {left, top, right, bottom}, pixels. */
export function freePart() {
  const { innerWidth: width, innerHeight: height } = window, portrait = width < 700;
  // A panel that the page does not have takes no room.
  const box = (id) => document.getElementById(id)?.getBoundingClientRect() ?? { width: 0 };
  const shown = (id) => box(id).width > 0 && !document.body.classList.contains("bare");
  const free = { left: 0, top: shown("bar") ? box("bar").bottom : 0, right: width, bottom: height };
  // On narrow screens panels are at the bottom, on wide ones at the sides.
  for (const id of portrait ? ["statistics", "inspector", ...SIDES, "timeline"] : ["timeline"])
    if (shown(id)) free.bottom = Math.min(free.bottom, box(id).top);
  if (!portrait) for (const id of SIDES) if (shown(id)) free.left = box(id).right;
  if (!portrait && shown("inspector")) free.right = box("inspector").left;
  if (free.bottom - free.top < LEAST * height) Object.assign(free, { top: 0, bottom: height });
  if (free.right - free.left < LEAST * width) Object.assign(free, { left: 0, right: width });
  return free;
}

/**
 * Shifts the camera's picture so that its target appears in the middle of `free`.
 * @returns {[number, number]} tangents of half the angles that the free part spans, across and up
 */
export function shiftInto(camera, free) {
  const { innerWidth: width, innerHeight: height } = window, tall = Math.tan((camera.fov * Math.PI) / 360);
  camera.setViewOffset(width, height, (width - free.left - free.right) / 2, (height - free.top - free.bottom) / 2, width, height);
  return [(tall * (free.right - free.left)) / height, (tall * (free.bottom - free.top)) / height];
}

/** Steps toward the place where both sides of the picture are equally wide. None goes too far, because each is as long as the nearest
 * corner asks for. */
const CENTRINGS = 24;

/**
 * Where a camera that looks along −`back` (a unit vector) stands so that it just sees all of some boxes (three.js) in the middle of
 * what it spans; `flat`: without perspective, so what is nearer does not need more room.
 * A point that is r to the right, u up and n toward the camera is seen from (x, y, d) if |r − x| ≤ (d − n) a and |u − y| ≤ (d − n) b.
 * So d is at least (max(r + a n) − min(r − a n)) / 2a, with x between the two, and likewise for b and y.
 * @returns {{target: Vector3, away: number}}
 */
export function placeFor(boxes, back, [across, up], flat = false) {
  const right = new Vector3(0, 1, 0).cross(back).normalize(), room = 1 - MARGIN;
  const corners = boxes.flatMap(cornersOf), depths = corners.map((corner) => corner.dot(back));
  const middle = (depths.reduce((most, n) => Math.max(most, n), -Infinity) + depths.reduce((least, n) => Math.min(least, n), Infinity)) / 2;
  const near = depths.map((n) => (flat ? 0 : n - middle));
  const sides = [[right, across * room], [back.clone().cross(right), up * room]].map(([axis, slope]) => {
    const along = corners.map((corner) => corner.dot(axis));
    const most = along.reduce((most, r, i) => Math.max(most, r + slope * near[i]), -Infinity);
    const least = along.reduce((least, r, i) => Math.min(least, r - slope * near[i]), Infinity);
    return { axis, along, at: (most + least) / 2, away: (most - least) / (2 * slope) };
  });
  const away = Math.max(...sides.map((side) => side.away)), target = back.clone().multiplyScalar(middle);
  const nearest = away - near.reduce((most, n) => Math.max(most, n), -Infinity);
  for (const { axis, along, at } of sides) {
    let x = at;
    for (let step = 0; step < CENTRINGS; step++) {
      let most = -Infinity, least = Infinity;
      along.forEach((r, i) => {
        const seen = (r - x) / (away - near[i]);
        most = Math.max(most, seen);
        least = Math.min(least, seen);
      });
      x += ((most + least) / 2) * nearest;
    }
    target.addScaledVector(axis, x);
  }
  return { target, away };
}

/** The eight corners of a box. */
const cornersOf = ({ min, max }) => Array.from({ length: 8 }, (_, k) =>
  new Vector3(k & 1 ? max.x : min.x, k & 2 ? max.y : min.y, k & 4 ? max.z : min.z));
