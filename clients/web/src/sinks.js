/** Draws the sinks of particle systems while fields are shown: the border of a ball or box, where its body is if one carries it. */
import { BoxGeometry, EdgesGeometry, Group, LineBasicMaterial, LineSegments, OctahedronGeometry, Quaternion, Vector3 } from "three";

const COLOUR = 0xff5fa2;
/** How often the faces of the ball are divided. */
const DETAIL = 3;

/** The place and turn of body axes, from the mirror: null if it has no such body. */
function bodyPose(mirror, body) {
  const slot = mirror.slots.get(body);
  if (slot === undefined) return null;
  const [w, x, y, z] = mirror.rotation.subarray(4 * slot, 4 * slot + 4);
  return { position: new Vector3(...mirror.position.subarray(3 * slot, 3 * slot + 3)), rotation: new Quaternion(x, y, z, w) };
}

/**
 * Where a sink is drawn: {position, rotation (three.js)}; null: it is a body itself, or its body is not there.
 */
export function placeOfSink(sink, mirror) {
  if (sink.region === "body") return null;
  const [w, x, y, z] = sink.rotation, position = new Vector3(...sink.position), rotation = new Quaternion(x, y, z, w);
  if (sink.body === 0) return { position, rotation };
  const carrier = bodyPose(mirror, sink.body);
  if (carrier === null) return null;
  return { position: position.applyQuaternion(carrier.rotation).add(carrier.position), rotation: carrier.rotation.clone().multiply(rotation) };
}

export class Sinks {
  #shown = "";
  #drawn = [];

  constructor(scene) {
    this.group = new Group();
    this.group.visible = false;
    scene.add(this.group);
    /** Grows with each change of the drawing. */
    this.version = 0;
  }

  get on() { return this.group.visible; }
  set on(on) { this.group.visible = on; }

  /** The particle systems as the server has them. */
  take(systems) {
    const sinks = systems.flatMap((system) => system.sinks ?? []).map(({ taken, mass, ...sink }) => sink), shown = JSON.stringify(sinks);
    if (shown === this.#shown) return;
    this.#shown = shown;
    this.version++;
    this.group.traverse(({ geometry, material }) => { geometry?.dispose(); material?.dispose(); });
    this.group.clear();
    this.#drawn = sinks.filter(({ region }) => region !== "body").map((sink) => {
      const solid = sink.region === "box" ? new BoxGeometry(...sink.size) : new OctahedronGeometry(sink.radius, DETAIL);
      const lines = new LineSegments(new EdgesGeometry(solid, sink.region === "box" ? 1 : 0), new LineBasicMaterial({ color: COLOUR, transparent: true, opacity: 0.8 }));
      solid.dispose();
      this.group.add(lines);
      return { sink, lines };
    });
  }

  /** Called once per picture. */
  move(mirror) {
    if (!this.on || mirror === null) return;
    for (const { sink, lines } of this.#drawn) {
      const place = placeOfSink(sink, mirror);
      lines.visible = place !== null;
      if (place === null) continue;
      lines.position.copy(place.position);
      lines.quaternion.copy(place.rotation);
    }
  }
}
