/** Pictures and videos of the world as files. They show the picture without the panels. */
import { save } from "./save.js";

/** Frames per second of a video, and its bits per second. */
const RATE = 30, BITS = 8e6;

export class Capture {
  #recorder = null;

  /** @param parts {stage, button: of the video, name(): of files without their end, report(error)} */
  constructor({ stage, button, name, report }) {
    Object.assign(this, { stage, button, name, report });
  }

  picture() {
    this.stage.render();
    this.stage.canvas.toBlob((blob) => save(`${this.name()}.png`, blob), "image/png");
  }

  /** Begins a video, or ends it and saves it. */
  video() {
    if (this.#recorder !== null) {
      this.#recorder.stop();
      return;
    }
    try {
      const recorder = new MediaRecorder(this.stage.canvas.captureStream(RATE), { videoBitsPerSecond: BITS }), parts = [];
      recorder.ondataavailable = ({ data }) => parts.push(data);
      recorder.onstop = () => {
        this.#recorder = null;
        this.button.setAttribute("aria-pressed", false);
        save(`${this.name()}.${recorder.mimeType.includes("mp4") ? "mp4" : "webm"}`, new Blob(parts, { type: recorder.mimeType }));
      };
      recorder.start();
      this.#recorder = recorder;
      this.button.setAttribute("aria-pressed", true);
    } catch (error) {
      this.report(new Error(`This browser cannot record videos: ${error.message}`));
    }
  }
}
