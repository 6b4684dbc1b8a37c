/** The renderer, sky, light, shadows and camera. This module does not depend on bodies. */
import {
  AmbientLight, BackSide, Box3, BufferAttribute, Color, DirectionalLight, Fog, HemisphereLight, Mesh, MeshBasicMaterial,
  PCFShadowMap, PerspectiveCamera, Raycaster, Scene, SphereGeometry, Vector2, Vector3, WebGLRenderer,
} from "three";
import { OrbitControls } from "three/examples/jsm/controls/OrbitControls.js";

/** Colours of the sky: overhead, and at the horizon, where it is also the colour of the fog. */
const ZENITH = new Color(0x2c3f54), HAZE = new Color(0x7f94a6);
/** Bounds of the half width of the region around the camera's target in which shadows are cast, metres. */
const SHADOW_REACH = [12, 150];
/** Distance of the sun from the target, in half widths of that region. */
const SUN_AWAY = 2.6;

/** The sky: a dome around the camera, darker towards the zenith. */
function sky() {
  const geometry = new SphereGeometry(2000, 32, 24), at = geometry.attributes.position, colours = new Float32Array(at.count * 3);
  for (let i = 0; i < at.count; i++) {
    const height = Math.max(at.getY(i) / 2000, 0);
    new Color().lerpColors(HAZE, ZENITH, Math.min(height ** 0.6 * 1.3, 1)).toArray(colours, i * 3);
  }
  geometry.setAttribute("color", new BufferAttribute(colours, 3));
  const dome = new Mesh(geometry, new MeshBasicMaterial({ vertexColors: true, side: BackSide, fog: false, depthWrite: false }));
  dome.renderOrder = -1;
  dome.frustumCulled = false;
  return dome;
}

export class Stage {
  constructor(canvas) {
    this.canvas = canvas;
    this.renderer = new WebGLRenderer({ canvas, antialias: true, preserveDrawingBuffer: true });
    this.renderer.setPixelRatio(Math.min(window.devicePixelRatio, 2));
    this.renderer.shadowMap.enabled = true;
    this.renderer.shadowMap.type = PCFShadowMap;
    this.scene = new Scene();
    this.sky = sky();
    this.scene.add(this.sky);
    this.scene.fog = new Fog(HAZE, 80, 500);
    this.camera = new PerspectiveCamera(50, 1, 0.05, 3000);
    this.camera.position.set(14, 9, 18);
    this.controls = new OrbitControls(this.camera, canvas);
    this.controls.enableDamping = true;
    this.controls.target.set(0, 2, 0);
    this.#light();
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
    this.scene.add(this.sun, this.sun.target);
    this.#reach(40);
  }

  /** Sets the region of shadows and the fog for a scene of this radius, metres. */
  #reach(metres) {
    const half = Math.min(Math.max(metres * 1.6, SHADOW_REACH[0]), SHADOW_REACH[1]), { camera } = this.sun.shadow;
    Object.assign(camera, { left: -half, right: half, top: half, bottom: -half, near: 1, far: half * SUN_AWAY * 2 });
    camera.updateProjectionMatrix();
    this.sunAt = new Vector3(0.42, 0.84, 0.34).multiplyScalar(half * SUN_AWAY);
    this.scene.fog.near = 60 + metres * 4;
    this.scene.fog.far = Math.min(300 + metres * 10, 950);
  }

  #resize() {
    const { innerWidth: width, innerHeight: height } = window;
    this.renderer.setSize(width, height, false);
    this.camera.aspect = width / height;
    this.camera.updateProjectionMatrix();
  }

  set shadows(on) { this.sun.castShadow = on; }

  /** Points the camera at the box between two corners, from the side of +x, +y and +z. */
  frame(min, max) {
    const box = new Box3(min, max), centre = box.getCenter(new Vector3());
    const reach = Math.min(Math.max(box.getSize(new Vector3()).length() / 2, 3), 150);
    this.#reach(reach);
    this.controls.target.copy(centre);
    this.camera.position.copy(centre).addScaledVector(new Vector3(0.55, 0.4, 0.75).normalize(), reach * 3.1);
  }

  /** Moves the camera with a point from picture to picture; null: the camera does not move. */
  follow(position) {
    if (position !== null && this.#followed !== null) {
      const moved = position.clone().sub(this.#followed);
      this.controls.target.add(moved);
      this.camera.position.add(moved);
    }
    this.#followed = position === null ? null : position.clone();
  }

  /** A ray through a point of the window, in pixels. */
  rayAt(x, y) {
    const at = new Vector2((x / window.innerWidth) * 2 - 1, 1 - (y / window.innerHeight) * 2);
    this.raycaster.setFromCamera(at, this.camera);
    return this.raycaster;
  }

  render() {
    this.controls.update();
    this.sun.target.position.copy(this.controls.target);
    this.sun.position.copy(this.controls.target).add(this.sunAt);
    this.sky.position.copy(this.camera.position);
    this.renderer.render(this.scene, this.camera);
  }
}
