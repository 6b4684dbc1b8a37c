/**
 * How much of the sky's light reaches a point of a body. Two answers, which every lit material reads from the same uniforms:
 *
 * - while the picture changes, a contact shadow: bodies that do not rest on their own are drawn once from below, and what lies under
 *   one of them, on the level top of a static body, is darker the nearer it is;
 * - while the picture is still, the sky itself: each pass draws the bodies from one direction of the sky and counts, for each pixel,
 *   whether they see it. The passes are the points of a low-discrepancy sequence on the half-sphere, so their sum becomes the share
 *   of the sky that each pixel sees, weighted by the cosine. After PASSES of them nothing is drawn any more.
 *
 * Only the light of the sky is dimmed, and half of that of the ground; never the sun, lines or texts. The sums are whole numbers, so
 * that every WebGL 2 can hold them: its extensions for textures of floating-point numbers are not needed.
 */
import {
  BasicDepthPacking, DataTexture, DepthTexture, GLSL3, Mesh, MeshDepthMaterial, NearestFilter, NoBlending, OrthographicCamera, PlaneGeometry,
  RGIntegerFormat, RedFormat, Scene, ShaderMaterial, UnsignedByteType, UnsignedIntType, UnsignedShortType, Vector2, Vector3,
  WebGLRenderTarget, Matrix4,
} from "three";
import { POSE, posed } from "./posed.js";

/** Layers of what casts a contact shadow, of what hides the sky, and of what the sky's light falls on. */
export const MOVES = 1, HIDES = 2, RECEIVES = 3;
/** Directions of the sky; a picture is drawn after each of these numbers of passes. */
const PASSES = 64, SHOWN_AFTER = [16, 32, PASSES];
/** Sides of the depth images, texels: from the sky, and from below. */
const SKY_MAP = 1024, BELOW_MAP = 512;
/** The blur of the contact shadow and the height at which it has faded to 1/e, as shares of the radius of what is shown. */
const BLUR = 0.03, FADE = 0.05;
const GOLDEN = Math.PI * (3 - Math.sqrt(5));

const OPEN = new DataTexture(new Uint8Array([255]), 1, 1, RedFormat);
OPEN.needsUpdate = true;

/** The places of numbers in [0, 1), evenly spread after any number of them (base 2 reversed). */
export function reversed(i) {
  let value = 0, share = 0.5;
  for (let rest = i; rest > 0; rest >>= 1, share /= 2) value += (rest & 1) * share;
  return value;
}

/** The direction of the sky of pass i: on the half-sphere, equal areas equally often. */
export function skyward(i) {
  const up = reversed(i) + 0.5 / PASSES, around = GOLDEN * i, out = Math.sqrt(1 - up * up);
  return new Vector3(out * Math.cos(around), up, out * Math.sin(around));
}

/** A target whose depth can be read. */
function depthTarget(size) {
  return new WebGLRenderTarget(size, size, { depthTexture: new DepthTexture(size, size, UnsignedIntType), minFilter: NearestFilter, magFilter: NearestFilter });
}

const FULL = new PlaneGeometry(2, 2);

export class Shade {
  #renderer;
  #scene;
  #depth = posed(new MeshDepthMaterial({ depthPacking: BasicDepthPacking, colorWrite: false }));
  #sky = depthTarget(SKY_MAP);
  #below = depthTarget(BELOW_MAP);
  #from = new OrthographicCamera();
  #size = new Vector2();
  #sums = null;
  #open = null;
  /** When the first pass was made. */
  #begun = 0;
  #count;
  #divide;

  /** @param uniforms those of posed materials, which this fills */
  constructor(renderer, scene, uniforms) {
    this.#renderer = renderer;
    this.#scene = scene;
    this.uniforms = uniforms;
    /** Directions of the sky that the pixels of the last picture have been asked for. */
    this.passes = 0;
    /** After so long, ms, a picture is complete at the next number of passes that is shown: a slow machine has other work. */
    this.longest = 3000;
    this.#count = new ShaderMaterial({
      glslVersion: GLSL3,
      uniforms: { before: { value: null }, first: { value: true }, hidden: { value: this.#sky.depthTexture }, toSky: { value: new Matrix4() },
        skyward: { value: new Vector3() }, bias: { value: 0 } },
      vertexShader: `${POSE} out vec3 at; out vec3 normalAt;
        void main() { at = turned(position) + place; normalAt = turned(normal); gl_Position = projectionMatrix * viewMatrix * vec4(at, 1.0); }`,
      fragmentShader: `precision highp usampler2D; uniform usampler2D before; uniform bool first; uniform sampler2D hidden; uniform mat4 toSky;
        uniform vec3 skyward; uniform float bias; in vec3 at; in vec3 normalAt; layout(location = 0) out uvec2 sum;
        void main() {
          vec3 n = normalize(normalAt);
          float weight = max(dot(n, skyward), 0.0);
          vec3 p = (toSky * vec4(at + n * bias, 1.0)).xyz;
          bool inside = all(lessThan(abs(p.xy - 0.5), vec2(0.5))) && p.z < 1.0;
          bool open = !inside || p.z <= texture(hidden, p.xy).r;
          uint share = uint(weight * 255.0 + 0.5);
          sum = uvec2(open ? share : 0u, share) + (first ? uvec2(0) : texelFetch(before, ivec2(gl_FragCoord.xy), 0).rg);
        }`,
      blending: NoBlending,
    });
    this.#divide = new Scene();
    const ratio = new ShaderMaterial({
      glslVersion: GLSL3, depthTest: false, depthWrite: false, blending: NoBlending,
      uniforms: { sums: { value: null } },
      vertexShader: "void main() { gl_Position = vec4(position, 1.0); }",
      fragmentShader: `precision highp usampler2D; uniform usampler2D sums; layout(location = 0) out vec4 share;
        void main() { vec2 sum = vec2(texelFetch(sums, ivec2(gl_FragCoord.xy), 0).rg); share = vec4(sum.y > 0.0 ? sum.x / sum.y : 1.0); }`,
    });
    this.#divide.add(Object.assign(new Mesh(FULL, ratio), { frustumCulled: false }));
  }

  /** Draws the bodies of a layer with one material into a target; the state of the renderer is as before. */
  #draw(target, camera, layer, material) {
    const renderer = this.#renderer, { shadowMap } = renderer, { mask } = camera.layers, { autoUpdate } = shadowMap;
    shadowMap.autoUpdate = false;
    camera.layers.set(layer);
    this.#scene.overrideMaterial = material;
    renderer.setRenderTarget(target);
    renderer.render(this.#scene, camera);
    renderer.setRenderTarget(null);
    this.#scene.overrideMaterial = null;
    camera.layers.mask = mask;
    shadowMap.autoUpdate = autoUpdate;
  }

  /** Puts the camera of depth images outside of a ball, looking along −`back`. @returns {Matrix4} from the world to its image, each 0…1 */
  #stand({ centre, radius }, back, up) {
    const from = this.#from;
    Object.assign(from, { left: -radius, right: radius, top: radius, bottom: -radius, near: 0, far: 2 * radius });
    from.up.copy(up);
    from.position.copy(centre).addScaledVector(back, radius);
    from.lookAt(centre);
    from.updateMatrixWorld();
    from.updateProjectionMatrix();
    return new Matrix4().set(0.5, 0, 0, 0.5, 0, 0.5, 0, 0.5, 0, 0, 0.5, 0.5, 0, 0, 0, 1)
      .multiply(from.projectionMatrix).multiply(from.matrixWorldInverse);
  }

  /** Nothing is dimmed any more. */
  end() {
    this.passes = PASSES;
    this.uniforms.openSky.value = OPEN;
    this.uniforms.under.value = null;
  }

  /** Before a picture that differs from the last one: `covered` is a ball {centre, radius} around what is shown. */
  begin(covered) {
    const { openSky, under, toUnder, underScale } = this.uniforms;
    this.passes = 0;
    openSky.value = OPEN;
    toUnder.value.copy(this.#stand(covered, new Vector3(0, -1, 0), new Vector3(0, 0, 1)));
    under.value = this.#below.depthTexture;
    underScale.value.set(BLUR / 2, 2 / FADE);
    this.#draw(this.#below, this.#from, MOVES, this.#depth);
  }

  #fit() {
    const { width, height } = this.#renderer.getDrawingBufferSize(this.#size);
    if (this.#open?.width === width && this.#open.height === height) return;
    for (const old of [...(this.#sums ?? []), this.#open]) old?.dispose();
    const plain = { minFilter: NearestFilter, magFilter: NearestFilter };
    this.#sums = [0, 1].map(() => new WebGLRenderTarget(width, height,
      { ...plain, format: RGIntegerFormat, type: UnsignedShortType, internalFormat: "RG16UI" }));
    // What has not been drawn into has no format yet, which a shader that reads it would refuse.
    for (const target of this.#sums) this.#renderer.initRenderTarget(target);
    this.#open = new WebGLRenderTarget(width, height, { ...plain, format: RedFormat, type: UnsignedByteType, depthBuffer: false });
  }

  /** All directions have been asked for, or as many as a slow machine has time for. */
  get complete() {
    return this.passes >= PASSES || (SHOWN_AFTER.includes(this.passes) && performance.now() - this.#begun > this.longest);
  }

  /** Asks the next direction for each pixel. @returns {boolean} whether the picture is to be drawn again */
  refine(camera, covered) {
    this.#fit();
    if (this.passes === 0) this.#begun = performance.now();
    const { uniforms } = this.#count, way = skyward(this.passes), [before, after] = this.passes % 2 === 0 ? this.#sums : [...this.#sums].reverse();
    uniforms.toSky.value.copy(this.#stand(covered, way, new Vector3(Math.cos(this.passes), 0, Math.sin(this.passes))));
    uniforms.skyward.value.copy(way);
    uniforms.bias.value = (3 * 2 * covered.radius) / SKY_MAP;
    uniforms.before.value = before.texture;
    uniforms.first.value = this.passes === 0;
    this.#draw(this.#sky, this.#from, HIDES, this.#depth);
    this.#draw(after, camera, RECEIVES, this.#count);
    this.passes++;
    if (!SHOWN_AFTER.includes(this.passes)) return false;
    this.#divide.children[0].material.uniforms.sums.value = after.texture;
    this.#renderer.setRenderTarget(this.#open);
    this.#renderer.render(this.#divide, this.#from);
    this.#renderer.setRenderTarget(null);
    this.uniforms.openSky.value = this.#open.texture;
    this.uniforms.under.value = null;
    return true;
  }

  /** What a pixel sees of the sky, of 255, counted from below: of the last picture that was refined. */
  shareAt(x, y) {
    const share = new Uint8Array(4);
    this.#renderer.readRenderTargetPixels(this.#open, x, y, 1, 1, share);
    return share[0];
  }
}
