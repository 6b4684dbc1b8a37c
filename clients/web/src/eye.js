/** The camera: perspective, or (`flat`) orthographic, for planar worlds, where bodies in front of others would only hide the plane. */
import { PerspectiveCamera, Raycaster, Vector2, Vector3 } from "three";

export class Eye extends PerspectiveCamera {
  /** Distance of what is looked at, m; there an orthographic picture is as large as a perspective one. */
  away = 1;
  flat = false;
  #raycaster = new Raycaster();

  updateProjectionMatrix() {
    super.updateProjectionMatrix();
    if (!this.flat) return;
    const { elements } = this.projectionMatrix, [x, y, across, up] = [0, 5, 8, 9].map((i) => elements[i]), { away, far } = this;
    // What is behind the eye is seen, too: it may stand within a body's thickness.
    this.projectionMatrix.set(x / away, 0, 0, -across, 0, y / away, 0, -up, 0, 0, -1 / far, 0, 0, 0, 0, 1);
    this.projectionMatrixInverse.copy(this.projectionMatrix).invert();
  }

  /** Called before each picture with the distance of the target. */
  focusAt(away) {
    if (!this.flat || away === this.away) return;
    this.away = away;
    this.updateProjectionMatrix();
  }

  /** A ray into the picture through a point of the window, −1 … 1 to the right and up. */
  rayThrough(right, up) {
    if (!this.flat) {
      this.#raycaster.setFromCamera(new Vector2(right, up), this);
      return this.#raycaster;
    }
    this.updateMatrixWorld();
    this.#raycaster.set(new Vector3(right, up, 0).unproject(this), this.getWorldDirection(new Vector3()));
    return this.#raycaster;
  }
}
