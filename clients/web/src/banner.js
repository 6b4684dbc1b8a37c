/** The banner that reports a failed connection, and its remedy. */

/** Remedies by status of Refused or Closed; for other statuses the banner shows the error's message alone. */
const REMEDIES = {
  auth: "The token in this page's address (#token=…) is wrong, used or expired. Without a token this page can only watch.",
  forbidden: "The server refused this: it needs a token with a higher role (#token=… in the address).",
  version: "The page and the server have different versions. Reload the page.",
  unknown_world: "The world on display has ended.",
  draining: "The server is shutting down.",
  slow: "This page or its network is too slow for the stream.",
};

export class Banner {
  #timer = 0;

  /** @param again called when the user presses Try now, lookOn when they press Look on without a token */
  constructor(root, again, lookOn) {
    this.root = root;
    this.trouble = root.querySelector("#trouble");
    this.remedy = root.querySelector("#remedy");
    this.button = root.querySelector("#again");
    this.button.onclick = again;
    this.look = root.querySelector("#look-on");
    this.look.onclick = lookOn;
  }

  /**
   * @param {number | null} wait milliseconds until the next automatic attempt; null: none
   * @param {boolean} [again] the button Try now is shown
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
    this.look.hidden = error.status !== "auth";
    this.root.hidden = false;
  }

  hide() {
    clearInterval(this.#timer);
    this.root.hidden = true;
  }
}
