/**
 * A file that is dropped on the page, or chosen by Load: a mesh becomes a body, a solid of convex parts, or with Shift its hull; a scene
 * or robot file becomes a world.
 */
import { shapes } from "cairn-client";
import { READERS, readMesh } from "./mesh_file.js";
import { SCENE_KINDS, isScene } from "./scenes.js";

/** Density of a loaded body, kg/m³, and its height above what it is dropped on, m. */
const DENSITY = 1000, ABOVE = 0.05;

export class Drop {
  /** @param parts {stage, hand, scenes, input: for files, world(), mayCommand(), note(text, ms), report(error)} */
  constructor(parts) {
    Object.assign(this, parts);
    const { body } = document;
    const over = (event, on) => {
      if (!event.dataTransfer?.types.includes("Files")) return;
      event.preventDefault(); // or the browser would open the file in place of the page
      body.classList.toggle("dropping", on);
    };
    window.addEventListener("dragover", (event) => over(event, true));
    window.addEventListener("dragleave", (event) => over(event, false));
    window.addEventListener("drop", (event) => {
      over(event, false);
      this.take([...(event.dataTransfer?.files ?? [])], event);
    });
    this.input.accept = [...Object.keys(READERS), ...SCENE_KINDS].map((kind) => `.${kind}`).join();
    this.input.onchange = () => {
      this.take([...this.input.files]);
      this.input.value = "";
    };
  }

  /** Loads files one after the other, at a point of the window or where the camera looks. */
  async take(files, { clientX = null, clientY = null, shiftKey = false } = {}) {
    const at = (clientX === null ? null : this.hand.pointAt(clientX, clientY)) ?? this.stage.controls.target.clone();
    for (const file of files) {
      try {
        if (!this.mayCommand()) throw new Error(`${file.name} was not loaded: only the roles controller and admin may add bodies and worlds, by a token in the address.`);
        if (isScene(file.name)) await this.scenes.openScene(file.name, { bytes: new Uint8Array(await file.arrayBuffer()), floating: shiftKey });
        else await this.#load(file, at, shiftKey ? "hull" : "parts");
      } catch (error) {
        this.report(error.message.includes(file.name) ? error : new Error(`${file.name}: ${error.message}`));
      }
    }
  }

  async #load(file, at, form) {
    const { vertices, triangles, size } = readMesh(file.name, await file.arrayBuffer()), world = this.world();
    this.note(`${file.name}: ${triangles.length} triangles are sent …`, 60000);
    const shape = await world.shape(shapes.solid(vertices, triangles, { form }));
    const id = await world.spawn({ position: [at.x, at.y + size.y / 2 + ABOVE, at.z], density: DENSITY, shapes: [[shape]] });
    this.note(`${file.name} is body ${id}: ${size.toArray().map((side) => Number(side.toPrecision(3))).join(" × ")} m, ${
      form === "hull" ? "as its hull" : "as convex parts"}, ${DENSITY} kg/m³.`);
  }
}
