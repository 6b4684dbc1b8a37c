/** The keys of the page: what each does, the short list in the corner, and the list of all of them that `?` opens. */

/** Targets that use keys themselves. */
const OWN_KEYS = ["INPUT", "SELECT", "BUTTON", "SUMMARY", "TEXTAREA"];
/** What the lists show: key, effect, and whether only roles that may command have it. `brief`: it is in the corner, too. */
const LIST = [
  { key: "drag", does: "turn", brief: true },
  { key: "wheel", does: "zoom", brief: true },
  { key: "right drag", does: "move", brief: true },
  { key: "click", does: "inspect", brief: true },
  { key: "double click", does: "bring to the middle" },
  { key: "arrows", does: "turn" },
  { key: "+ −", does: "nearer, farther" },
  { key: "drag a body", does: "pull it", commands: true, brief: true },
  { key: "drag a cloth, a rope", does: "pull it at a particle", commands: true },
  { key: "space", does: "pause or resume", commands: true, brief: true },
  { key: ".", does: "step one tick", commands: true },
  { key: "B", does: "throw balls by click", commands: true, brief: true },
  { key: "0", does: "restart the world", commands: true },
  { key: "Delete", does: "remove the chosen body", commands: true },
  { key: "drop a file", does: "load a mesh (OBJ, STL, PLY; with Shift its hull), open a scene or a robot as a world", commands: true },
  { key: "N", does: "scenes of the server", commands: true },
  { key: "P", does: "push the chosen body", commands: true },
  { key: "W", does: "steer the chosen mover: W A S D, arrows, Shift, space", commands: true },
  { key: "F", does: "follow the chosen body" },
  { key: "R", does: "reset the view", brief: true },
  { key: "C", does: "contacts and forces" },
  { key: "J", does: "joints" },
  { key: "E", does: "force fields" },
  { key: "V", does: "only what I see" },
  { key: "M", does: "methods and parameters" },
  { key: "L", does: "list of bodies" },
  { key: "G", does: "plots" },
  { key: "Y", does: "layers: velocity, frames, boxes, islands, sleep and more" },
  { key: "K", does: "copy a link to this view" },
  { key: "I", does: "save the picture" },
  { key: "O", does: "begin or save a video" },
  { key: "A", does: "begin or save a page that plays by itself" },
  { key: "T", does: "timeline" },
  { key: "H", does: "hide the panels" },
  { key: "Esc", does: "close, choose nothing" },
  { key: "?", does: "all keys", brief: true },
];

function entry({ key, does, commands }) {
  const line = document.createElement("span"), name = document.createElement("kbd");
  if (commands) line.className = "commands";
  name.textContent = key;
  line.append(name, ` ${does}`);
  return line;
}

/** The key of an event without regard to Caps Lock and Shift: letters are small. */
export const keyOf = ({ key }) => (key.length === 1 ? key.toLowerCase() : key);

export class Keys {
  /**
   * @param everybody {key: action} for all roles
   * @param commands {key: action} for roles that may command
   * @param mayCommand () → whether these act now
   * @param mode while it takes keys they do nothing else: key(event, down) → whether it takes it, letGo(): all are released
   */
  constructor({ everybody, commands, mayCommand, mode }) {
    const dialog = document.getElementById("keys");
    document.getElementById("help").replaceChildren(...LIST.filter(({ brief }) => brief).map(entry));
    dialog.querySelector("#all-keys").replaceChildren(...LIST.map(entry));
    const toggle = () => (dialog.open ? dialog.close() : dialog.showModal());
    document.getElementById("show-keys").onclick = toggle;
    dialog.querySelector("button").onclick = toggle;
    dialog.onclose = () => document.getElementById("stage").focus();
    window.addEventListener("keydown", (event) => {
      if (event.ctrlKey || event.metaKey || event.altKey || OWN_KEYS.includes(event.target.tagName)) return;
      const key = keyOf(event);
      if (dialog.open && key !== "?") return; // Escape closes the dialog
      if (mode.key(event, true)) {
        event.preventDefault();
        return;
      }
      const action = key === "?" ? toggle : everybody[key] ?? (mayCommand() ? commands[key] : undefined);
      if (action === undefined) return;
      event.preventDefault();
      action();
    });
    // A key that was pressed in the picture is released wherever the focus is now.
    window.addEventListener("keyup", (event) => mode.key(event, false));
    window.addEventListener("blur", () => mode.letGo());
    document.addEventListener("visibilitychange", () => { if (document.hidden) mode.letGo(); });
  }
}
