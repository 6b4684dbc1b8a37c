/**
 * A parameter of a world as a labelled input: a number within its range, or a switch if its values are 0 and 1. The user's text
 * stays until the server accepts it or the user discards it. A refusal is shown beside the input, with the value in force.
 */

/** Makes an element with properties and children. Texts of the server are set as text, never as HTML. */
export function make(tag, properties = {}, ...children) {
  const element = Object.assign(document.createElement(tag), properties);
  element.append(...children);
  return element;
}

const measured = (value, unit) => (unit ? `${value} ${unit}` : String(value));
const isSwitch = ({ whole, least, most }) => whole && least === 0 && most === 1;

/** The meaning, bounds, readers and former names of a parameter, one sentence each. */
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
  /** Whether the input has the user's text, not the value in force. #edits counts the user's changes, so that an answer to an
   * older value is recognised. */
  #edited = false;
  #edits = 0;
  #wanted = null;
  #sending = false;
  #trouble = "";

  /** @param {(name: string, value: number) => Promise} set rejects if the server refuses */
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
      // The default is sent, and the button is disabled with the focus on it; move the focus to the input first.
      this.input.focus();
      this.#send(this.#facts.initial);
    };
  }

  /** Shows the server's facts of the parameter. `may`: the user may change it. */
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

  /** Discards the user's text and shows the value in force. */
  giveUp() {
    this.#touch(false);
    this.#trouble = "";
    this.#write();
  }

  /** Takes the value that the user has entered. */
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

  /** Sends values one after the other; of the values that wait only the last one is sent. */
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
        // A switch has no invalid text: it shows the value in force.
        this.#edited = !isSwitch(this.#facts);
      }
    }
    this.#sending = false;
    this.#write();
  }
}
