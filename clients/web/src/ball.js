/** Throws balls from the camera into the picture. */
import { command, shapes } from "cairn-client";

/** Radius of a ball as a share of the way it flies, and its bounds, m. */
const SHARE = 0.02, RADIUS = [0.05, 0.6];
/** Time of flight, s, and the bounds of the speed, m/s. */
const FLIGHT = 0.5, SPEED = [5, 60];
/** Density of iron, kg/m³. */
const DENSITY = 7800;
/** Corners of the polygon that stands for a ball in a planar world. */
const CORNERS = 16;
const GRAVITY = 9.81;

const within = (value, [low, high]) => Math.min(Math.max(value, low), high);

/**
 * Throws a ball along a ray (three.js) so that it arrives at the point `away` metres from its origin. In a planar world the ball
 * is dropped at that point, because the eye is outside the plane.
 * @returns {Promise<number>} the ball's id
 */
export async function throwBall(world, { origin, direction }, away, planar) {
  const aim = origin.clone().addScaledVector(direction, away), radius = within(away * SHARE, RADIUS);
  if (planar) {
    const corners = Array.from({ length: CORNERS }, (_, i) => [Math.cos((2 * Math.PI * i) / CORNERS) * radius,
      Math.sin((2 * Math.PI * i) / CORNERS) * radius]);
    const disc = await world.shape(shapes.polygon(corners));
    return world.spawn({ position: [aim.x, aim.y, 0], density: DENSITY, shapes: [[disc]] });
  }
  const speed = within(away / FLIGHT, SPEED), velocity = direction.clone().multiplyScalar(speed);
  velocity.y += (GRAVITY * (away / speed)) / 2; // what gravity takes on the way
  const ball = await world.shape(shapes.sphere(radius));
  return world.spawn({ position: origin.clone().addScaledVector(direction, radius * 4).toArray(), velocity: velocity.toArray(),
    density: DENSITY, shapes: [[ball]] });
}

/** Removes a body. */
export const removeBody = (world, id) => world.apply(command("remove", { body: id }));
