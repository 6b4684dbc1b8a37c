/** Colours of the particles of fluids: by speed, height, pressure or excess of density, with the numbers between which they lie. */
import { Color } from "three";

/** From slow, deep or little to fast, high or much. */
export const RAMP = [0x0b3d91, 0x1f78c8, 0x5fb8e6, 0xc9ecf7, 0xffffff].map((colour) => new Color(colour));
/** Speeds that are white, m/s: at least this, and what a fall over the fluid's height gives. */
const SPEED = 0.5, GRAVITY = 9.81;
/** Least range of pressures, Pa, and of excesses of density: so that noise is not stretched over all colours. */
const PRESSURE = 1, EXCESS = 1e-3;

export const SHADES = ["speed", "depth", "pressure", "density error", "age"];

/** What is coloured of each particle, the range of its numbers as the legend shows them, and their unit. */
const QUANTITIES = {
  speed: { unit: "m/s", of: ({ velocity }, i) => Math.hypot(velocity[3 * i], velocity[3 * i + 1], velocity[3 * i + 2]),
    range: ({ height }) => [0, Math.max(SPEED, Math.sqrt(2 * GRAVITY * height))] },
  depth: { unit: "m", of: ({ position }, i) => position[3 * i + 1], range: ({ low, height }) => [low, low + height] },
  pressure: { unit: "Pa", of: ({ pressure }, i) => pressure[i], range: ({ most }) => [0, Math.max(most, PRESSURE)] },
  "density error": { unit: "%", scale: 100, of: ({ density }, i, rest) => Math.max(density[i] / rest - 1, 0),
    range: ({ most }) => [0, Math.max(most, EXCESS)] },
};

/** Whether the particles have what the shade needs: frames of older servers have no pressures. */
function isKnown(shade, { velocity, pressure, density }, rest) {
  if (shade === "pressure") return Boolean(pressure);
  if (shade === "density error") return Boolean(density) && rest > 0;
  return Boolean(velocity) || shade === "depth";
}

/**
 * @param {number} rest the fluid's density at rest, kg/m3
 * @returns {{shares: Float32Array, low: number, high: number, unit: string} | null} of particles first … end − 1: 0 for the slowest, deepest
 *   or least, 1 for the fastest, highest or most; the numbers of 0 and 1. Null: the frames do not tell it
 */
export function scaleOf(shade, particles, first, end, rest = 0) {
  const quantity = QUANTITIES[shade];
  if (quantity === undefined || !isKnown(shade, particles, rest)) return null;
  const shares = new Float32Array(end - first), { position } = particles;
  let low = Infinity, high = -Infinity, most = 0;
  for (let i = first; i < end; i++) {
    low = Math.min(low, position[3 * i + 1]);
    high = Math.max(high, position[3 * i + 1]);
    most = Math.max(most, quantity.of(particles, i, rest));
  }
  const height = Math.max(high - low, 0), [from, to] = quantity.range({ low: end > first ? low : 0, height, most });
  for (let i = first; i < end; i++)
    shares[i - first] = Math.min((quantity.of(particles, i, rest) - from) / Math.max(to - from, 1e-9), 1);
  const { scale = 1, unit } = quantity;
  return { shares, low: from * scale, high: to * scale, unit };
}

/** Writes the colour of a share to `out`. */
export function shadeOf(share, out) {
  const at = Math.min(Math.max(share, 0), 1) * (RAMP.length - 1), from = Math.min(Math.floor(at), RAMP.length - 2);
  return out.lerpColors(RAMP[from], RAMP[from + 1], at - from);
}

/** A number of the legend: three digits, without an exponent where it can be read without. */
export const numeral = (value) => (Math.abs(value) < 1e-9 ? "0" : Math.abs(value) >= 1e5 || Math.abs(value) < 1e-3 ? value.toPrecision(2)
  : String(Number(value.toPrecision(3))));
