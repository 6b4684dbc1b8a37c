/** What is wrong with the link, in words, and what one can do about it. */

/** By status of Refused or Closed; others are told as they are. */
const REMEDIES = {
  auth: "The token in this page's address (#token=…) is wrong, used or expired. Without one you may look on.",
  forbidden: "The server does not let this page do that: it wants a token of another role (#token=… in the address).",
  version: "The page and the server are of different versions: reload it.",
  unknown_world: "The world that was shown has ended.",
  draining: "The server is shutting down.",
  slow: "This page or its network is too slow for the stream.",
};

export class Banner {
  #timer = 0;

  /** @param again called when the user does not want to wait */
  constructor(root, again) {
    this.root = root;
    this.trouble = root.querySelector("#trouble");
    this.remedy = root.querySelector("#remedy");
    this.button = root.querySelector("#again");
    this.button.onclick = again;
  }

  /**
   * @param {number | null} wait milliseconds until it is tried again by itself; null: it is not
   * @param {boolean} [again] one may try now
   */
  show(error, wait = null, again = false) {
    clearInterval(this.#timer);
    this.trouble.textContent = error.message;
    const words = REMEDIES[error.status] ?? "", end = performance.now() + wait;
    const write = () => {
      const left = Math.max(Math.ceil((end - performance.now()) / 1000), 0);
      this.remedy.textContent = wait === null ? words : `${words} Trying again${left > 0 ? ` in ${left} s` : ""} …`.trim();
    };
    write();
    if (wait !== null) this.#timer = setInterval(write, 1000);
    this.button.hidden = !again;
    this.root.hidden = false;
  }

  hide() {
    clearInterval(this.#timer);
    this.root.hidden = true;
  }
}
