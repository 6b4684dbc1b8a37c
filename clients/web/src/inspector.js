/** The panel of the chosen body. */
const ASK_MS = 500;
const VECTOR = (v) => v.map((x) => x.toFixed(3)).join("  ");

export class Inspector {
  #asked = 0;
  #facts = null;

  constructor(root) {
    this.root = root;
    this.list = root.querySelector("dl");
    this.title = root.querySelector("output");
    this.id = 0;
  }

  choose(id) {
    this.id = id;
    this.#facts = null;
    this.#asked = 0;
    this.root.hidden = id === 0;
    this.title.textContent = id || "";
    this.list.replaceChildren();
  }

  /** Once a picture: what the mirror says, and now and then what a query adds. */
  refresh(world, mirror, now) {
    if (this.id === 0) return;
    const body = mirror.body(this.id);
    if (body === null) {
      this.choose(0);
      return;
    }
    if (now - this.#asked > ASK_MS) {
      this.#asked = now;
      const { id } = this;
      world.facts(id).then((facts) => { if (this.id === id) this.#facts = facts; }, () => {});
    }
    this.#write({
      Status: body.quarantine ? "in quarantine" : `${body.status}${body.asleep ? ", asleep" : ""}`,
      Position: `${VECTOR(body.position)} m`,
      Velocity: `${VECTOR(body.velocity)} m/s`,
      Spin: `${VECTOR(body.spin)} rad/s`,
      Mass: this.#facts ? `${this.#facts.mass.toPrecision(6)} kg` : "…",
      Owner: body.owner || "nobody",
      Tag: body.tag,
      Shapes: body.shapes?.length ?? 0,
    });
  }

  #write(rows) {
    Object.entries(rows).forEach(([name, value], i) => {
      if (this.list.children.length <= i * 2) this.list.append(document.createElement("dt"), document.createElement("dd"));
      this.list.children[i * 2].textContent = name;
      this.list.children[i * 2 + 1].textContent = value;
    });
  }
}
