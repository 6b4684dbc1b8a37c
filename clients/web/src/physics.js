/**
 * The panel of methods and parameters: those the server offers and those the world uses; users who may command change them here.
 * Other sessions may change them too, and the server sends no message about it. Therefore the open panel sends its queries again
 * when the world's state has changed.
 */
import { command } from "cairn-client";
import { Method } from "./method.js";
import { Parameter } from "./parameter.js";
import { Side } from "./side.js";

/** Shortest time between two requests while the panel is open, ms. */
const QUERY_MS = 1000;

/** Puts `rows` into a container. Rows that stay are not moved, because removing an input fires `change` with unfinished text. */
function arrange(container, rows) {
  const roots = rows.map(({ root }) => root);
  for (const child of [...container.children]) if (!roots.includes(child)) child.remove();
  roots.forEach((root, i) => {
    if (container.children[i] !== root) container.insertBefore(root, container.children[i] ?? null);
  });
}

export class Physics extends Side {
  #world = null;
  #asked = -Infinity;
  /** The world's state, "epoch tick edit", at the query whose answer is shown. */
  #state = "";
  #pending = 0;
  #methods = new Map();
  #parameters = new Map();

  /**
   * @param button opens and closes the panel
   * @param {() => boolean} mayCommand
   */
  constructor(root, button, mayCommand) {
    super(root, button);
    this.mayCommand = mayCommand;
    [this.trouble, this.methods, this.title, this.read, this.others, this.rest] =
      ["#unanswered", "#methods", "#readby", "#parameters", "#others", "#unread"].map((name) => root.querySelector(name));
    /** The facts shown: {method, methods, parameters} as the server sent them, or null. */
    this.shown = null;
  }

  changed() {
    this.#state = "";
    this.#asked = -Infinity;
  }

  /** Sets the world whose methods and parameters are shown, or null. */
  watch(world) {
    this.#world = world;
    this.shown = null;
    this.#state = "";
    this.#asked = -Infinity;
    this.#methods.clear();
    this.#parameters.clear();
    for (const list of [this.methods, this.read, this.rest]) list.replaceChildren();
    this.title.textContent = "Parameters";
    this.others.hidden = true;
    this.trouble.textContent = "";
  }

  /** Called once per picture: sends the queries if they are due. */
  refresh(mirror, now) {
    if (!this.open || this.#world === null || this.#pending > 0 || now - this.#asked < QUERY_MS) return;
    const state = mirror === null ? "none" : `${mirror.epoch} ${mirror.tick} ${mirror.edit}`;
    if (state === this.#state) return;
    this.#asked = now;
    this.#query().then((answered) => { if (answered) this.#state = state; });
  }

  /** Sends the queries and shows their answers. @returns {Promise<boolean>} whether they were answered */
  async #query() {
    const world = this.#world;
    this.#pending++;
    try {
      const [methods, parameters] = await Promise.all([world.methods(), world.parameters(), world.refresh()]);
      if (world !== this.#world) return false;
      this.trouble.textContent = "";
      this.#show({ method: world.method, methods, parameters });
      return true;
    } catch (error) {
      if (world === this.#world) this.trouble.textContent = `No answer from the server: ${error.message}`;
      return false;
    } finally {
      this.#pending--;
    }
  }

  /** Sends one command, waits for its result, and shows the new facts. In a world that is not paused the result comes with the next tick. */
  async #send(name, values) {
    await this.#world.send(command(name, values));
    await this.#query();
  }

  #row(rows, facts, make) {
    if (!rows.has(facts.name)) rows.set(facts.name, make());
    return rows.get(facts.name);
  }

  #show(answer) {
    this.shown = answer;
    const { method: used, methods, parameters } = answer, may = this.mayCommand();
    arrange(this.methods, methods.map((facts) => {
      const row = this.#row(this.#methods, facts, () => new Method(facts, (name) => this.#send("method", { name })));
      row.show(facts, facts.name === used, may);
      return row;
    }));
    const rowsOf = (list, container) => list.map((facts) => {
      const set = (name, value) => this.#send("parameter", { name, value });
      const row = this.#row(this.#parameters, facts, () => new Parameter(facts, set));
      row.show(facts, may);
      if (row.root.parentNode !== container) row.giveUp();
      return row;
    });
    const [read, unread] = [true, false].map((is) => parameters.filter((facts) => facts.methods.includes(used) === is));
    this.title.textContent = `Parameters of ${used}`;
    this.#place([[this.read, rowsOf(read, this.read)], [this.rest, rowsOf(unread, this.rest)]]);
    this.others.hidden = unread.length === 0;
  }

  /** Puts rows into containers; a focus inside the panel stays inside. */
  #place(lists) {
    const { activeElement } = document, inside = this.root.contains(activeElement);
    for (const [container, rows] of lists) arrange(container, rows);
    if (!inside || document.activeElement === activeElement) return;
    activeElement.focus();
    if (document.activeElement !== activeElement) this.root.focus();
  }
}
