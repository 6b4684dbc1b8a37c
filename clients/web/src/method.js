/** A simulation method as a list item: its abilities, whether it is in use, and a button to use it. */
import { shapes } from "cairn-client";
import { make } from "./parameter.js";

const KINDS = Object.entries(shapes.KIND);

/** Names of the kinds of shapes in a mask of bits 2^kind. */
function kindsOf(bits) {
  const known = KINDS.filter(([, kind]) => (bits >> kind) & 1).map(([name]) => name);
  return known.length === KINDS.length ? "every kind" : known.join(", ") || "none";
}

const namesOf = (names) => names.map(({ name, parameter, value }) =>
  (parameter === null ? name : `${name} (${parameter} ${value})`)).join(", ");

const WORLDS = ["planar", "spatial"];

/** The abilities of a method, and its other names. */
function describe({ abilities, shapes: bits, names }) {
  const effects = abilities.filter((word) => !WORLDS.includes(word)), worlds = WORLDS.filter((word) => abilities.includes(word));
  const words = [`${worlds.join(" and ")} worlds`, `shapes: ${kindsOf(bits)}`];
  if (effects.length > 0) words.unshift(effects.join(", "));
  if (names.length > 0) words.push(`other names: ${namesOf(names)}`);
  return words.join("; ");
}

export class Method {
  #sending = false;

  /** @param {(name: string) => Promise} use rejects if the server refuses */
  constructor({ name }, use) {
    const id = `method-${name}`;
    this.name = name;
    this.use = use;
    this.mark = make("span", { className: "mark" });
    this.button = make("button", { className: "commands", type: "button", textContent: "Use" });
    this.button.setAttribute("aria-label", `Use ${name}`);
    this.button.setAttribute("aria-describedby", `${id}-summary ${id}-why`);
    this.summary = make("p", { id: `${id}-summary` });
    this.abilities = make("p", { className: "meaning" });
    this.why = make("p", { id: `${id}-why`, className: "why" });
    this.error = make("p", { className: "refused" });
    this.error.setAttribute("role", "alert");
    this.root = make("li", { className: "method" },
      make("div", { className: "entry" }, make("strong", { textContent: name }), this.mark, this.button),
      this.summary, this.abilities, this.why, this.error);
    this.root.dataset.name = name;
    this.button.onclick = () => this.#choose();
  }

  /** Shows the server's facts of the method. `used`: it is in use; `may`: the user may switch to it. */
  show(facts, used, may) {
    const text = { mark: used ? "in use" : "", summary: facts.summary, abilities: describe(facts),
      why: facts.why === null ? "" : `The world cannot switch to this method now: ${facts.why}.` };
    for (const [part, words] of Object.entries(text)) if (this[part].textContent !== words) this[part].textContent = words;
    this.root.setAttribute("aria-current", used);
    this.button.setAttribute("aria-pressed", used);
    this.button.disabled = !may || facts.why !== null;
    if (used) this.error.textContent = "";
    this.used = used;
  }

  async #choose() {
    if (this.used || this.#sending) return;
    this.#sending = true;
    this.root.setAttribute("aria-busy", "true");
    try {
      await this.use(this.name);
      this.error.textContent = "";
    } catch (error) {
      this.error.textContent = error.message;
    }
    this.#sending = false;
    this.root.setAttribute("aria-busy", "false");
  }
}
