/** The scenes of the server's folder. One that is chosen becomes a new world, and so does a scene or robot file that is dropped. */
import { Side } from "./side.js";

/** Ends of the names of scene and robot files. */
export const SCENE_KINDS = ["yaml", "yml", "json", "urdf", "xml", "mjcf"];
export const isScene = (name) => SCENE_KINDS.includes(name.split(".").at(-1).toLowerCase());
/** Longest name of a world or a file, and room in it for a number. */
const NAME_MAX = 64, NUMBER_MAX = 4;
const BYTES_MAX = 196608;

/** A name as the server allows it: other characters become '-'. */
const plain = (name) => name.replace(/[^\w.-]/gu, "-").replace(/^\.+/u, "");

/** The name of a world for a scene: that of its file without the ending, with a number if it is among `taken`. */
export function worldName(scene, taken) {
  const base = plain(scene.replace(/^.*\/|\.[^.]*$/gu, "")).slice(0, NAME_MAX - NUMBER_MAX) || "world";
  let name = base;
  for (let n = 2; taken.includes(name); n++) name = `${base}-${n}`;
  return name;
}

export class Scenes extends Side {
  #listed = [];
  #refused = "";

  /** @param parts {root, button, client(): of the server, or throws, join(name): shows a world, note(text, ms), report(error)} */
  constructor({ root, button, client, join, note, report }) {
    super(root, button);
    Object.assign(this, { client, join, note, report });
    this.input = root.querySelector("input");
    this.list = root.querySelector("ul");
    this.count = root.querySelector("output");
    this.input.oninput = () => this.#write();
    this.list.onclick = ({ target, shiftKey }) => {
      const scene = target.closest("button")?.dataset.scene;
      if (scene !== undefined) this.openScene(scene, { floating: shiftKey }).catch(report);
    };
  }

  /** The folder may have changed since it was listed. */
  changed() {
    if (this.open) this.#fetch();
  }

  async #fetch() {
    try {
      [this.#listed, this.#refused] = [await this.client().scenes(), ""];
    } catch (error) {
      [this.#listed, this.#refused] = [[], error.message];
    }
    this.#write();
  }

  #write() {
    const words = this.input.value.toLowerCase().split(/\s+/u).filter(Boolean);
    const found = this.#listed.filter(({ name, title }) => words.every((word) => `${name} ${title}`.toLowerCase().includes(word)));
    this.count.textContent = this.#refused || `${found.length} of ${this.#listed.length}`;
    this.list.replaceChildren(...found.map(({ name, title }) => {
      const row = document.createElement("li"), button = document.createElement("button");
      button.dataset.scene = button.textContent = name;
      row.append(button, " ", title);
      return row;
    }));
  }

  /**
   * Makes a world of a scene of the folder and shows it. @param bytes a scene or robot file of that name, in the place of the
   * folder's @param floating the base of a URDF is not fixed to the world
   */
  async openScene(scene, { bytes, floating = false } = {}) {
    if (bytes?.byteLength > BYTES_MAX)
      throw new Error(`${scene} has ${bytes.byteLength} bytes, more than ${BYTES_MAX}; cairn load WORLD ${scene} has no such limit.`);
    const client = this.client(), taken = (await client.list()).map(({ name }) => name), urdf = /\.urdf$/iu.test(scene);
    const name = worldName(scene, taken), base = floating ? "floating" : "fixed";
    this.note(`${scene} becomes the world ${name} …`, 60000);
    const world = await client.openScene(bytes === undefined ? scene : plain(scene).slice(-NAME_MAX), name, {
      text: bytes, base: urdf ? base : null,
    });
    await this.join(name);
    const told = [`This is ${name}.`, ...(urdf ? [floating ? "Its base floats." : "Its base is fixed; with Shift it floats."] : []), ...world.notes];
    this.note(told.join(" "), 3000 + 3000 * told.length);
  }
}
