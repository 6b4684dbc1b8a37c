/**
 * A parameter of a world as a labelled input: a number within its range, or a switch where it is 0 or 1. What the user typed stays
 * until the server took it or the user gave it up; what the server refused is said beside it, with what stays in force.
 */

/** An element with these properties, and children. Text of the server goes in as text only. */
export function make(tag, properties = {}, ...children) {
  const element = Object.assign(document.createElement(tag), properties);
  element.append(...children);
  return element;
}

const measured = (value, unit) => (unit ? `${value} ${unit}` : String(value));
const isSwitch = ({ whole, least, most }) => whole && least === 0 && most === 1;

/** Its meaning and its bounds, one sentence each. */
function describe({ whole, least, most, initial, unit, old, meaning, methods }) {
  const words = [
    `${meaning}.`,
    `${whole ? "An integer within" : "Within"} ${least} and ${measured(most, unit)}; by default ${measured(initial, unit)}.`,
    methods.length > 0 ? `Read by ${methods.join(", ")}.` : "Read by no method.",
  ];
  if (old.length > 0) words.push(`Former names: ${old.join(", ")}.`);
  return words.join(" ");
}

export class Parameter {
  #facts;
  /** Whether the input holds what the user typed, not what is in force; and a count of what he did, by which it is seen that an
   * answer is to something older. */
  #edited = false;
  #edits = 0;
  #wanted = null;
  #sending = false;
  #trouble = "";

  /** @param {(name: string, value: number) => Promise} set rejects where the server refuses */
  constructor(facts, set) {
    const { name, unit } = facts, id = `parameter-${name}`, onOff = isSwitch(facts);
    this.set = set;
    this.#facts = facts;
    this.input = make("input", { id, type: onOff ? "checkbox" : "number", autocomplete: "off" });
    if (onOff) this.input.setAttribute("role", "switch");
    this.input.setAttribute("aria-describedby", `${id}-meaning ${id}-error`);
    this.reset = make("button", { className: "commands", type: "button", textContent: "Default" });
    this.reset.setAttribute("aria-label", `Default of ${name}`);
    this.meaning = make("p", { id: `${id}-meaning`, className: "meaning" });
    this.error = make("p", { id: `${id}-error`, className: "refused" });
    this.error.setAttribute("role", "alert");
    this.root = make("div", { className: "parameter" },
      make("div", { className: "entry" }, make("label", { htmlFor: id, textContent: name }), this.input,
        make("span", { className: "unit", textContent: unit }), this.reset),
      this.meaning, this.error);
    this.root.dataset.name = name;
    this.#listen();
  }

  #listen() {
    this.input.oninput = () => this.#touch(true);
    this.input.onchange = () => {
      this.#touch(true);
      this.#take();
    };
    this.input.onkeydown = (event) => {
      if (event.key !== "Escape" || !this.#edited) return;
      event.stopPropagation();
      this.giveUp();
    };
    // Scrolling the panel must not change the number under the pointer.
    this.input.onwheel = () => { if (this.input.type === "number") this.input.blur(); };
    this.reset.onclick = () => {
      this.#touch(true);
      // Then the button has no effect.
      this.input.focus();
      this.#send(this.#facts.initial);
    };
  }

  /** What the server says about it now. */
  show(facts, may) {
    this.#facts = facts;
    const { whole, least, most, value, initial } = facts;
    Object.assign(this.input, isSwitch(facts) ? { disabled: !may } : { readOnly: !may, min: least, max: most,
      step: whole ? "1" : "any" });
    this.reset.disabled = !may || value === initial;
    this.#write();
  }

  #write() {
    const { value, unit } = this.#facts, meaning = describe(this.#facts);
    if (!this.#edited) {
      if (isSwitch(this.#facts)) this.input.checked = value !== 0;
      else if (this.input.value !== String(value)) this.input.value = String(value);
    }
    const trouble = this.#trouble && `${this.#trouble}. In force: ${measured(value, unit)}.`;
    if (this.meaning.textContent !== meaning) this.meaning.textContent = meaning;
    if (this.error.textContent !== trouble) this.error.textContent = trouble;
    this.input.setAttribute("aria-invalid", trouble !== "");
    this.root.setAttribute("aria-busy", this.#sending);
  }

  #touch(edited) {
    this.#edits++;
    this.#edited = edited;
  }

  /** Shows what is in force, and forgets what the user typed. */
  giveUp() {
    this.#touch(false);
    this.#trouble = "";
    this.#write();
  }

  /** The user is done typing. */
  #take() {
    if (isSwitch(this.#facts)) {
      this.#send(this.input.checked ? 1 : 0);
    } else if (Number.isNaN(this.input.valueAsNumber)) {
      this.#trouble = `${this.#facts.name} must be a number`;
      this.#write();
    } else if (this.input.valueAsNumber === this.#facts.value && !this.#sending) {
      this.giveUp();
    } else {
      this.#send(this.input.valueAsNumber);
    }
  }

  /** One after the other; of those that wait the last one alone. */
  async #send(value) {
    this.#wanted = value;
    if (this.#sending) return;
    this.#sending = true;
    this.#write();
    while (this.#wanted !== null) {
      const edits = this.#edits, wanted = this.#wanted;
      this.#wanted = null;
      try {
        await this.set(this.#facts.name, wanted);
        if (this.#edits === edits) this.giveUp();
      } catch (error) {
        if (this.#edits !== edits) continue;
        this.#trouble = error.message;
        // A switch is never wrong in itself: it shows what is in force.
        this.#edited = !isSwitch(this.#facts);
      }
    }
    this.#sending = false;
    this.#write();
  }
}
