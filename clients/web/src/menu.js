/** The menu of worlds. It follows worlds that others make and end. */
const LIST_MS = 3000;

export class Menu {
  #at = -Infinity;
  #waiting = false;

  /** @param choose (name) joins a world */
  constructor(select, choose) {
    this.select = select;
    select.onchange = () => choose(select.value);
  }

  /** Shows the worlds, [{name}], and which one is joined. */
  show(worlds, joined) {
    const names = worlds.map(({ name }) => name);
    if ([...this.select.options].map(({ value }) => value).join("/") !== names.join("/"))
      this.select.replaceChildren(...names.map((name) => new Option(name, name)));
    this.select.value = joined;
  }

  empty() { this.select.replaceChildren(new Option("none")); }

  /** Called once per picture: asks for the worlds if that is due; an open menu is left alone. */
  refresh(client, joined, now) {
    if (this.#waiting || now - this.#at < LIST_MS || document.activeElement === this.select) return;
    this.#at = now;
    this.#waiting = true;
    client.list().then((worlds) => { if (worlds.some(({ name }) => name === joined)) this.show(worlds, joined); }, () => {})
      .finally(() => { this.#waiting = false; });
  }
}
