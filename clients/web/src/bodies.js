/** The list of bodies, with a search. A click in it chooses a body. */
import { Side } from "./side.js";

const REFRESH_MS = 500;
/** Rows shown; of more bodies the number alone is told. */
const ROWS_MAX = 200;
/** Quantities that a search may compare, as in "speed>2 y<0". */
const QUANTITIES = {
  id: ({ id }) => id,
  x: ({ position }) => position[0],
  y: ({ position }) => position[1],
  z: ({ position }) => position[2],
  speed: ({ velocity }) => Math.hypot(...velocity),
  spin: ({ spin }) => Math.hypot(...spin),
  tag: ({ tag }) => tag,
  owner: ({ owner }) => owner,
};
const COMPARISON = /^([a-z]+)(<=|>=|<|>|=)(-?[\d.]+(?:e-?\d+)?)$/;
const COMPARE = {
  "<": (a, b) => a < b, ">": (a, b) => a > b, "<=": (a, b) => a <= b, ">=": (a, b) => a >= b, "=": (a, b) => a === b,
};

/** What a body can be found by: its id, its status and the kinds of its shapes. */
export const wordsOf = (body, kinds) => [String(body.id), body.status, ...kinds, body.asleep ? "asleep" : "awake",
  ...["fast", "quarantine"].filter((word) => body[word])];

/**
 * A search as a test of bodies: all its words must hold. A word is the beginning of one of the body's words, or compares a
 * quantity. @returns {{test: (body, kinds) => boolean, wrong: string}} wrong: the first word that compares nothing, or ""
 */
export function search(text) {
  const tests = [];
  let wrong = "";
  for (const word of text.toLowerCase().split(/\s+/).filter((each) => each !== "")) {
    const [, quantity, sign, value] = COMPARISON.exec(word) ?? [];
    if (quantity in QUANTITIES) tests.push((body) => COMPARE[sign](QUANTITIES[quantity](body), Number(value)));
    else if (/[<>=]/.test(word)) wrong ||= word;
    else tests.push((body, kinds) => wordsOf(body, kinds).some((own) => own.startsWith(word)));
  }
  return { test: (body, kinds) => tests.every((holds) => holds(body, kinds)), wrong };
}

export class Bodies extends Side {
  #at = -Infinity;

  /** @param parts {root, button, choose(id), kindsOf(id): kinds of a body's shapes} */
  constructor({ root, button, choose, kindsOf }) {
    super(root, button);
    this.kindsOf = kindsOf;
    this.choose = choose;
    this.input = root.querySelector("input");
    this.list = root.querySelector("ul");
    this.count = root.querySelector("output");
    this.input.oninput = () => this.changed();
    this.list.onclick = ({ target }) => {
      const id = Number(target.closest("button")?.dataset.id ?? 0);
      if (id !== 0) choose(id);
    };
  }

  changed() { this.#at = -Infinity; }

  /** Called once per picture. */
  refresh(mirror, chosen, now) {
    if (!this.open || now - this.#at < REFRESH_MS) return;
    this.#at = now;
    const { test, wrong } = search(this.input.value);
    const found = [...mirror.slots.keys()].sort((a, b) => a - b).map((id) => mirror.body(id))
      .filter((body) => test(body, this.kindsOf(body.id)));
    this.count.textContent = wrong !== "" ? `“${wrong}” compares nothing: ${Object.keys(QUANTITIES).join(", ")} with < > =`
      : `${found.length} of ${mirror.count}${found.length > ROWS_MAX ? `, the first ${ROWS_MAX} shown` : ""}`;
    this.#write(found.slice(0, ROWS_MAX), chosen);
  }

  /** Rows are reused, so that a button keeps the focus. */
  #write(bodies, chosen) {
    while (this.list.children.length > bodies.length) this.list.lastChild.remove();
    bodies.forEach((body, i) => {
      if (this.list.children.length <= i) {
        const row = document.createElement("li");
        row.append(document.createElement("button"));
        this.list.append(row);
      }
      const button = this.list.children[i].firstChild;
      const text = `${body.id}  ${[...new Set(this.kindsOf(body.id))].join(" ")}  ${body.status}${body.asleep ? " asleep" : ""}  ${
        Math.hypot(...body.velocity).toFixed(2)} m/s`;
      button.dataset.id = body.id;
      if (button.textContent !== text) button.textContent = text;
      button.setAttribute("aria-pressed", body.id === chosen);
    });
  }
}
