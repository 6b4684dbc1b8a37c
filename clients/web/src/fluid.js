/** Colours of the particles of fluids: by speed or by depth. */
import { Color } from "three";

/** From slow or deep to fast or high. */
const RAMP = [0x0b3d91, 0x1f78c8, 0x5fb8e6, 0xc9ecf7, 0xffffff].map((colour) => new Color(colour));
/** Speeds that are white, m/s: at least this, and what a fall over the fluid's height gives. */
const SPEED = 0.5, GRAVITY = 9.81;

export const SHADES = ["speed", "depth", "age"];

/** @returns {Float32Array} of particles first … end − 1: 0 for the slowest or deepest, 1 for the fastest or highest */
export function sharesOf(shade, { position, velocity }, first, end) {
  const shares = new Float32Array(end - first);
  let low = Infinity, high = -Infinity;
  for (let i = first; i < end; i++) {
    low = Math.min(low, position[3 * i + 1]);
    high = Math.max(high, position[3 * i + 1]);
  }
  const fall = Math.max(SPEED, Math.sqrt(2 * GRAVITY * Math.max(high - low, 0))), range = Math.max(high - low, 1e-9);
  for (let i = first; i < end; i++) {
    const share = shade === "speed" ? Math.hypot(velocity[3 * i], velocity[3 * i + 1], velocity[3 * i + 2]) / fall
      : (position[3 * i + 1] - low) / range;
    shares[i - first] = Math.min(share, 1);
  }
  return shares;
}

/** Writes the colour of a share to `out`. */
export function shadeOf(share, out) {
  const at = Math.min(Math.max(share, 0), 1) * (RAMP.length - 1), from = Math.min(Math.floor(at), RAMP.length - 2);
  return out.lerpColors(RAMP[from], RAMP[from + 1], at - from);
}
