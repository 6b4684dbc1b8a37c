/** The picture: renderer, light and shadow, ground lines, cameras. Knows nothing of bodies. */
import {
  AmbientLight, Box3, Color, DirectionalLight, Fog, GridHelper, HemisphereLight, PCFShadowMap, PerspectiveCamera,
  Raycaster, Scene, Vector2, Vector3, WebGLRenderer,
} from "three";
import { OrbitControls } from "three/examples/jsm/controls/OrbitControls.js";

const SKY = 0x1b2026;
/** Shadows are cast within this half width of the camera's target, metres. */
const SHADOW_REACH = 40;

export class Stage {
  constructor(canvas) {
    this.canvas = canvas;
    this.renderer = new WebGLRenderer({ canvas, antialias: true, preserveDrawingBuffer: true });
    this.renderer.setPixelRatio(Math.min(window.devicePixelRatio, 2));
    this.renderer.shadowMap.enabled = true;
    this.renderer.shadowMap.type = PCFShadowMap;
    this.scene = new Scene();
    this.scene.background = new Color(SKY);
    this.scene.fog = new Fog(SKY, 150, 600);
    this.camera = new PerspectiveCamera(50, 1, 0.05, 2000);
    this.camera.position.set(14, 9, 18);
    this.controls = new OrbitControls(this.camera, canvas);
    this.controls.enableDamping = true;
    this.controls.target.set(0, 2, 0);
    this.#light();
    this.#lines();
    this.raycaster = new Raycaster();
    window.addEventListener("resize", () => this.#resize());
    this.#resize();
  }

  #followed = null;

  #light() {
    this.scene.add(new AmbientLight(0xffffff, 0.5), new HemisphereLight(0xcfe3ff, 0x55504a, 1));
    this.sun = new DirectionalLight(0xfff2dd, 2.4);
    this.sun.castShadow = true;
    this.sun.shadow.mapSize.set(2048, 2048);
    this.sun.shadow.normalBias = 0.05;
    Object.assign(this.sun.shadow.camera,
      { left: -SHADOW_REACH, right: SHADOW_REACH, top: SHADOW_REACH, bottom: -SHADOW_REACH, near: 1, far: 250 });
    this.scene.add(this.sun, this.sun.target);
  }

  /** Metres, faintly, and tens of metres. */
  #lines() {
    for (const [size, step, opacity] of [[60, 1, 0.12], [400, 10, 0.3]]) {
      const grid = new GridHelper(size, size / step, 0x0c1116, 0x0c1116);
      grid.position.y = 0.003;
      Object.assign(grid.material, { transparent: true, opacity, depthWrite: false });
      this.scene.add(grid);
    }
  }

  #resize() {
    const { innerWidth: width, innerHeight: height } = window;
    this.renderer.setSize(width, height, false);
    this.camera.aspect = width / height;
    this.camera.updateProjectionMatrix();
  }

  set shadows(on) { this.sun.castShadow = on; }

  /** Looks at what lies between two corners, from the south-east. */
  frame(min, max) {
    const box = new Box3(min, max), centre = box.getCenter(new Vector3());
    const reach = Math.min(Math.max(box.getSize(new Vector3()).length() / 2, 3), 150);
    this.controls.target.copy(centre);
    this.camera.position.copy(centre).addScaledVector(new Vector3(0.55, 0.4, 0.75).normalize(), reach * 3.1);
  }

  /** The camera goes along with a point from picture to picture; null: it stays. */
  follow(position) {
    if (position !== null && this.#followed !== null) {
      const moved = position.clone().sub(this.#followed);
      this.controls.target.add(moved);
      this.camera.position.add(moved);
    }
    this.#followed = position === null ? null : position.clone();
  }

  /** A ray through a point of the window. */
  rayAt(x, y) {
    const at = new Vector2((x / window.innerWidth) * 2 - 1, 1 - (y / window.innerHeight) * 2);
    this.raycaster.setFromCamera(at, this.camera);
    return this.raycaster;
  }

  render() {
    this.controls.update();
    this.sun.target.position.copy(this.controls.target);
    this.sun.position.copy(this.controls.target).add(new Vector3(45, 90, 35));
    this.renderer.render(this.scene, this.camera);
  }
}
