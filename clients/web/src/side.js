/** A panel at the left side. Opening one closes the others. Escape in it closes it, and the focus returns to its button. */
const all = [];

export class Side {
  /** @param button opens and closes the panel */
  constructor(root, button) {
    this.root = root;
    this.button = button;
    all.push(this);
    button.onclick = () => this.toggle();
    root.querySelector(".shut").onclick = () => this.toggle(false);
    root.onkeydown = (event) => {
      if (event.key !== "Escape") return;
      event.stopPropagation();
      this.toggle(false);
    };
  }

  get open() { return !this.root.hidden; }

  /** Opens or closes the panel; the focus moves to the panel or to the button. */
  toggle(open = !this.open) {
    if (open === this.open) return;
    if (open) for (const other of all) if (other !== this) other.toggle(false);
    this.root.hidden = !open;
    this.button.setAttribute("aria-expanded", open);
    this.changed();
    if (open) this.root.focus();
    else this.button.focus();
  }

  /** Called when the panel was opened or closed. */
  changed() {}
}
