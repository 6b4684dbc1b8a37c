/** The renderer, sky, light, shadows and camera. This module does not depend on bodies. */
import {
  BackSide, Box3, BufferAttribute, Color, DirectionalLight, Fog, HemisphereLight, Mesh, MeshBasicMaterial,
  NeutralToneMapping, PCFShadowMap, Quaternion, Scene, SphereGeometry, Spherical, Vector3, WebGLRenderer,
} from "three";
import { OrbitControls } from "three/examples/jsm/controls/OrbitControls.js";
import { Eye } from "./eye.js";
import { shadeUniforms } from "./posed.js";
import { Shade } from "./shade.js";
import { freePart, placeFor, shiftInto } from "./view.js";

/** Colours of a scheme: overhead, at the horizon (where it is also the fog's), and the light from sky and ground. */
const SCHEMES = {
  light: { zenith: 0x6d9acb, haze: 0xdde6ec, above: 0xd3e4f7, below: 0xb5a48e, ambient: 1.9, sun: 3 },
  dark: { zenith: 0x16202c, haze: 0x55677a, above: 0xb4cbe6, below: 0x6e6458, ambient: 1.2, sun: 2.6 },
};
/** The sun: its colour, and the way to it. */
const WARM = 0xffecd2, SUNWARD = new Vector3(-0.5, 0.8, 0.3).normalize();
/** Texels of the shadow map's side, and bounds of half the side of what it covers, m. */
const SHADOW_MAP = 2048, SHADOW_REACH = [3, 150];
/** Room around what is framed as a share of half its size; and of one body more, which would fill the window. */
const AROUND = 0.03, AROUND_FEW = 0.45;
/** Least half of the size of what is framed, m. */
const REACH_LEAST = 0.05;
/** Least height of the camera above the ground, m. */
const ABOVE = 0.1;
/**
 * A camera that turns less, rad, or moves less, as a share of its distance, makes the same picture: about a thirtieth of a pixel.
 * The damping of the controls ends only where numbers do, some ten seconds after a drag.
 */
const STILL = 3e-5;
/** What is left of a drag's motion decays at this rate, 1/s, whatever the number of pictures a second. */
const DAMPING = 6;
/** A picture that has not changed for so long, ms, is refined. */
const STILL_MS = 200;
/** The shadow map is fitted anew when what it has to cover has become larger, or this much smaller, or has moved by this share. */
const SMALLER = 0.55, MOVED = 0.2;

/** The sky: a dome around the camera, darker towards the zenith. */
function sky({ zenith, haze }) {
  const geometry = new SphereGeometry(2000, 32, 24), at = geometry.attributes.position, colours = new Float32Array(at.count * 3);
  const high = new Color(zenith), low = new Color(haze);
  for (let i = 0; i < at.count; i++) {
    const height = Math.max(at.getY(i) / 2000, 0);
    new Color().lerpColors(low, high, Math.min(height ** 0.6 * 1.3, 1)).toArray(colours, i * 3);
  }
  geometry.setAttribute("color", new BufferAttribute(colours, 3));
  const dome = new Mesh(geometry, new MeshBasicMaterial({ vertexColors: true, side: BackSide, fog: false, depthWrite: false, toneMapped: false }));
  dome.renderOrder = -1;
  dome.frustumCulled = false;
  return dome;
}

export class Stage {
  constructor(canvas) {
    this.canvas = canvas;
    /** Grows with each change of the light or of the window. */
    this.version = 0;
    this.renderer = new WebGLRenderer({ canvas, antialias: true, preserveDrawingBuffer: true });
    this.renderer.setPixelRatio(Math.min(window.devicePixelRatio, 2));
    this.renderer.shadowMap.enabled = true;
    this.renderer.shadowMap.type = PCFShadowMap;
    // Keeps the hue of bright faces, so that colours mean the same in light and shade.
    this.renderer.toneMapping = NeutralToneMapping;
    this.renderer.toneMappingExposure = 1.15;
    this.scene = new Scene();
    this.shade = new Shade(this.renderer, this.scene, shadeUniforms);
    const dark = window.matchMedia("(prefers-color-scheme: dark)");
    this.#paint(dark.matches ? SCHEMES.dark : SCHEMES.light);
    dark.addEventListener("change", ({ matches }) => this.#paint(matches ? SCHEMES.dark : SCHEMES.light));
    this.camera = new Eye(50, 1, 0.05, 3000);
    this.camera.position.set(14, 9, 18);
    this.controls = new OrbitControls(this.camera, canvas);
    this.controls.enableDamping = true;
    this.controls.addEventListener("start", () => { this.handled = true; });
    this.controls.target.set(0, 2, 0);
    window.addEventListener("resize", () => this.#resize());
    this.#resize();
  }

  /** Height of the ground, m; null: there is none. */
  ground = null;
  /** The user, a key or a link has moved the camera since frame(). */
  handled = false;
  /** What is drawn over each picture of the scene: {probing, took(ms), draw(stage)}; null: nothing. */
  over = null;
  /** The way to the sun. */
  sunward = SUNWARD;
  /** Whether the light of the sky has shadows, too. */
  #shaded = true;
  #followed = null;
  #moved = 0;
  /** When the last picture was made that differs from the one before. */
  #changed = -Infinity;
  /** The camera's pose in the last picture. */
  #drawn = { position: new Vector3(), quaternion: new Quaternion() };

  /** Sets sky, fog and light to a scheme's colours. */
  #paint(scheme) {
    this.version++;
    this.colours = Object.fromEntries(["zenith", "haze"].map((name) => [name, new Color(scheme[name]).convertLinearToSRGB()]));
    this.sky?.removeFromParent();
    this.sky = sky(scheme);
    this.scene.fog ??= new Fog(scheme.haze, 80, 500);
    this.scene.fog.color.set(scheme.haze);
    this.ambient ??= new HemisphereLight();
    this.ambient.color.set(scheme.above);
    this.ambient.groundColor.set(scheme.below);
    this.ambient.intensity = scheme.ambient;
    if (this.sun === undefined) this.#rise();
    this.sun.intensity = scheme.sun;
    this.scene.add(this.sky, this.ambient, this.sun, this.sun.target);
  }

  #rise() {
    this.sun = new DirectionalLight(WARM);
    this.sun.castShadow = true;
    this.sun.shadow.mapSize.set(SHADOW_MAP, SHADOW_MAP);
    this.sun.shadow.radius = 2;
    this.#cover(new Vector3(), 40);
  }

  /** Points the sun at a ball, whose inside casts and receives shadows. */
  #cover(centre, radius) {
    const half = Math.min(Math.max(radius, SHADOW_REACH[0]), SHADOW_REACH[1]), { camera } = this.sun.shadow;
    Object.assign(camera, { left: -half, right: half, top: half, bottom: -half, near: half * 0.1, far: half * 4 });
    camera.updateProjectionMatrix();
    this.sun.target.position.copy(centre);
    this.sun.position.copy(centre).addScaledVector(SUNWARD, half * 2);
    // One texel and a half: less shows stripes, more parts the shadow from its body.
    this.sun.shadow.normalBias = (1.5 * 2 * half) / SHADOW_MAP;
    this.sun.shadow.bias = -0.0003;
    this.covered = { centre: centre.clone(), radius: half };
    this.version++;
  }

  /** Fits the shadow map to a box (three.js), if it fits badly. */
  fitShadows(box) {
    const { centre, radius } = this.covered;
    // The shadow on the ground belongs to what is to be covered.
    if (box.min.y > 0) box.min.y = 0;
    const middle = box.getCenter(new Vector3());
    const needs = Math.min(Math.max(box.getSize(new Vector3()).length() / 2, SHADOW_REACH[0]), SHADOW_REACH[1] / 1.25);
    if (needs > radius || needs < radius * SMALLER || middle.distanceTo(centre) > radius * MOVED) this.#cover(middle, needs * 1.25);
  }

  /** Sets the fog for a scene of this radius, metres. */
  #reach(metres) {
    this.scene.fog.near = 60 + metres * 4;
    this.scene.fog.far = Math.min(300 + metres * 10, 950);
  }

  #resize() {
    this.version++;
    const { innerWidth: width, innerHeight: height } = window;
    this.renderer.setSize(width, height, false);
    this.camera.aspect = width / height;
    shiftInto(this.camera, freePart());
  }

  set shadows(on) {
    this.sun.castShadow = this.#shaded = on;
    if (!on) this.shade.end();
    this.version++;
  }

  /**
   * Points the camera at boxes (three.js), so that they fill the part of the window that is free of panels; from the side of +x, +y
   * and +z, or (`front`) along −z, without perspective.
   */
  frame(boxes, front = false) {
    this.handled = false;
    this.camera.flat = front;
    const whole = boxes.reduce((all, box) => all.union(box), new Box3());
    // Bodies whose shapes have not arrived are points, from which a camera would have no distance.
    const reach = Math.max(whole.getSize(new Vector3()).length() / 2, REACH_LEAST);
    const back = front ? new Vector3(0, 0, 1) : new Vector3(0.55, 0.4, 0.75).normalize();
    this.#reach(reach);
    this.controls.minDistance = Math.min(0.2, reach);
    this.controls.maxDistance = Math.min(Math.max(reach * 12, 50), 1500);
    const around = reach * (AROUND + AROUND_FEW / boxes.length ** 2);
    const { target, away } = placeFor(boxes.map((box) => box.clone().expandByScalar(around)), back, shiftInto(this.camera, freePart()), front);
    this.camera.position.copy(target).addScaledVector(back, away);
    // What is turned about is not below what is seen, where the ground may be.
    this.controls.target.copy(target).addScaledVector(back, Math.max((whole.min.y - target.y) / back.y, 0) || 0);
  }

  /** Puts the camera at a place and points it at another. */
  look(camera, target) {
    this.handled = true;
    this.camera.position.fromArray(camera);
    this.controls.target.fromArray(target);
  }

  /** Brings a point to the middle; the direction of the view stays. */
  centre(point) {
    this.handled = true;
    this.camera.position.add(point).sub(this.controls.target);
    this.controls.target.copy(point);
  }

  /** Turns the camera about its target: to the right and up, radians. */
  turn(right, up) {
    this.handled = true;
    const around = new Spherical().setFromVector3(this.camera.position.clone().sub(this.controls.target));
    around.theta += right;
    around.phi = Math.min(Math.max(around.phi - up, 0.02), this.controls.maxPolarAngle - 0.02);
    this.camera.position.setFromSpherical(around).add(this.controls.target);
  }

  /** Multiplies the distance between the camera and its target. */
  approach(factor) {
    this.handled = true;
    const way = this.camera.position.clone().sub(this.controls.target), { minDistance, maxDistance } = this.controls;
    way.setLength(Math.min(Math.max(way.length() * factor, minDistance), maxDistance));
    this.camera.position.copy(this.controls.target).add(way);
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

  /** What one pixel spans at the camera's target, m. */
  get metresPerPixel() {
    const { camera, controls } = this;
    return (2 * camera.position.distanceTo(controls.target) * Math.tan((camera.fov * Math.PI) / 360)) / window.innerHeight;
  }

  /** A ray through a point of the window, in pixels. */
  rayAt(x, y) {
    return this.camera.rayThrough((x / window.innerWidth) * 2 - 1, 1 - (y / window.innerHeight) * 2);
  }

  /** Moves the camera by what the user did. @returns {boolean} whether it has another pose than in the last picture */
  move() {
    const now = performance.now();
    this.controls.dampingFactor = 1 - Math.exp((-DAMPING * Math.min(now - this.#moved, 200)) / 1000);
    this.#moved = now;
    this.controls.update();
    // The camera and its target stay above the ground.
    if (this.ground !== null) {
      this.controls.target.y = Math.max(this.controls.target.y, this.ground);
      const least = this.ground + ABOVE;
      if (this.camera.position.y < least) {
        this.camera.position.y = least;
        this.camera.lookAt(this.controls.target);
      }
    }
    const { position, quaternion } = this.camera, away = position.distanceTo(this.controls.target);
    this.camera.focusAt(away);
    return position.distanceTo(this.#drawn.position) > STILL * away || quaternion.angleTo(this.#drawn.quaternion) > STILL;
  }

  render() {
    this.move();
    this.#drawn.position.copy(this.camera.position);
    this.#drawn.quaternion.copy(this.camera.quaternion);
    this.sky.position.copy(this.camera.position);
    const probing = this.over?.probing ?? false, begun = probing ? this.#finished() : 0;
    if (this.#shaded) this.shade.begin(this.covered);
    this.#renderAll();
    if (probing) this.over.took(this.#finished() - begun);
    this.#changed = performance.now();
  }

  #renderAll() {
    this.renderer.render(this.scene, this.camera);
    this.over?.draw(this);
  }

  /** Waits until all is drawn: a pixel is read, because WebGL's finish() does not wait. @returns {number} the time, ms */
  #finished() {
    const gl = this.renderer.getContext();
    gl.readPixels(0, 0, 1, 1, gl.RGBA, gl.UNSIGNED_BYTE, new Uint8Array(4));
    return performance.now();
  }

  /** While the picture is still: one pass more of the sky's light. @returns {boolean} whether there is another one to make */
  refine() {
    if (this.shade.complete) return false;
    if (performance.now() - this.#changed > STILL_MS && this.shade.refine(this.camera, this.covered)) this.#renderAll();
    return true;
  }
}
