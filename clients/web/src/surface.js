/**
 * Fluids as a surface, in the space of the screen. After the picture of everything else:
 *
 * 1. front: each particle is a ball on a square that faces the camera; the nearest one leaves its distance and its colour;
 * 2. thickness: the same balls, added up, in front of the bodies only;
 * 3. smooth: the distances are averaged over the particles' size, along rows and columns in turn, but not over edges, where a
 *    distance differs by several balls;
 * 4. over the picture: normals from the distances; what is behind, bent and absorbed by the thickness; the sky, reflected by
 *    Fresnel's law (Schlick's form); the sun. Its depth is that of the surface, so bodies in front stay in front.
 *
 * Steps 1 to 3 have half the picture's width and height. A surface that does not allow 30 pictures a second gives way to balls, if the
 * choice is automatic; `why` tells what is drawn, and the reason.
 */
import {
  AddEquation, Color, CustomBlending, DynamicDrawUsage, FloatType, FramebufferTexture, GLSL3, HalfFloatType,
  InstancedBufferAttribute, InstancedBufferGeometry, Mesh, MeshDepthMaterial, NearestFilter, NoBlending, OneFactor, OrthographicCamera,
  PlaneGeometry, RGBAFormat, RGFormat, RedFormat, Scene, ShaderMaterial, UnsignedByteType, Vector2, Vector3, WebGLRenderTarget, Matrix3,
} from "three";
import { posed } from "./posed.js";
import { HIDES } from "./shade.js";

export const CHOICES = ["automatic", "surface", "balls"];
/** Pictures whose time is measured before it counts; the first one compiles the shaders and does not. One in so many later on. */
const PROBES = 3, PROBE_AGAIN = 60;
/** A picture that takes so many times what is allowed needs no second one. */
const HOPELESS = 8;
/** The picture's width by that of the steps before the last. */
const COARSE = 2;
/** Radius of a drawn ball by the kernel's: 0.8 of the particles' spacing, so that neighbours in a calm fluid overlap. */
export const BALL = 0.4;
/** Rounds of smoothing, and most texels to each side. */
const ROUNDS = 3, TAPS = 10;

const BALLS = `
in vec3 place; in vec3 tint; in float radius;
out vec2 corner; out vec3 centre; out vec3 colour; flat out float size;
void main() {
  corner = position.xy; colour = tint; size = radius;
  centre = (viewMatrix * vec4(place, 1.0)).xyz;
  gl_Position = projectionMatrix * vec4(centre + vec3(corner * radius, 0.0), 1.0);
}`;
const FRONT = `
uniform mat4 projectionMatrix;
in vec2 corner; in vec3 centre; in vec3 colour; flat in float size;
layout(location = 0) out vec4 away; layout(location = 1) out vec4 seen;
void main() {
  float out2 = dot(corner, corner);
  if (out2 > 1.0) discard;
  vec3 at = centre + size * vec3(corner, sqrt(1.0 - out2));
  vec4 clip = projectionMatrix * vec4(at, 1.0);
  gl_FragDepth = 0.5 + 0.5 * clip.z / clip.w;
  away = vec4(-at.z, size, 0.0, 1.0); seen = vec4(colour, 1.0);
}`;
const THICK = `
in vec2 corner; in vec3 centre; in vec3 colour; flat in float size;
layout(location = 0) out vec4 thick;
void main() {
  float out2 = dot(corner, corner);
  if (out2 > 1.0) discard;
  thick = vec4(2.0 * size * sqrt(1.0 - out2), 0.0, 0.0, 1.0);
}`;
const FULL = "void main() { gl_Position = vec4(position.xy, 0.0, 1.0); }";
const SMOOTH = `
uniform sampler2D away; uniform ivec2 way; uniform float texels;
layout(location = 0) out vec4 smoothed;
void main() {
  ivec2 at = ivec2(gl_FragCoord.xy), most = textureSize(away, 0) - 1;
  vec2 ball = texelFetch(away, at, 0).rg;
  float own = ball.r, size = ball.g, sum = 0.0, weights = 0.0;
  if (own <= 0.0) { smoothed = vec4(0.0); return; }
  float reach = clamp(texels * size / own, 1.0, float(${TAPS}));
  for (int i = -${TAPS}; i <= ${TAPS}; i++) {
    float other = texelFetch(away, clamp(at + i * way, ivec2(0), most), 0).r, off = float(i) / reach, step = (other - own) / (3.0 * size);
    float weight = other <= 0.0 || abs(off) > 2.0 ? 0.0 : exp(-off * off - step * step);
    sum += weight * other; weights += weight;
  }
  smoothed = vec4(sum / weights, size, 0.0, 1.0);
}`;
const OVER = `
uniform sampler2D away; uniform sampler2D seen; uniform sampler2D thick; uniform sampler2D behind;
uniform mat4 projectionMatrix; uniform mat3 toWorld; uniform vec3 sunward; uniform vec3 zenith; uniform vec3 haze;
uniform vec2 pixels;
layout(location = 0) out vec4 picture;
float covered, size;
/* Between the four texels around a place; covered: how much of that is fluid. */
float awayAt(vec2 at) {
  vec2 texel = at * vec2(textureSize(away, 0)) - 0.5, part = fract(texel);
  ivec2 low = ivec2(floor(texel)), most = textureSize(away, 0) - 1;
  float sum = 0.0, nearest = 1e30;
  covered = 0.0;
  for (int i = 0; i < 4; i++) {
    float d = texelFetch(away, clamp(low + ivec2(i & 1, i >> 1), ivec2(0), most), 0).r;
    if (d <= 0.0 || d >= nearest) continue;
    nearest = d; size = texelFetch(away, clamp(low + ivec2(i & 1, i >> 1), ivec2(0), most), 0).g;
  }
  for (int i = 0; i < 4; i++) {
    float d = texelFetch(away, clamp(low + ivec2(i & 1, i >> 1), ivec2(0), most), 0).r;
    float weight = ((i & 1) == 1 ? part.x : 1.0 - part.x) * (i > 1 ? part.y : 1.0 - part.y);
    if (d <= 0.0 || d - nearest > 2.0 * size) continue;
    sum += weight * d; covered += weight;
  }
  return covered > 0.0 ? sum / covered : 0.0;
}
vec3 placeAt(vec2 at, float d) {
  vec2 ndc = 2.0 * at - 1.0;
  float w = -projectionMatrix[2][3] * d + projectionMatrix[3][3];
  return vec3((ndc.x * w + projectionMatrix[2][0] * d - projectionMatrix[3][0]) / projectionMatrix[0][0],
    (ndc.y * w + projectionMatrix[2][1] * d - projectionMatrix[3][1]) / projectionMatrix[1][1], -d);
}
/* The slope along one axis: of both sides the smaller, because the other one may be that of an edge; beside edges on both sides none. */
vec3 slope(vec2 at, vec2 step, vec3 here) {
  float a = awayAt(at + step), b = awayAt(at - step), own = -here.z;
  bool ahead = a > 0.0 && abs(a - own) < 2.0 * size, before = b > 0.0 && abs(b - own) < 2.0 * size;
  vec3 forward = placeAt(at + step, ahead ? a : own) - here, back = here - placeAt(at - step, before ? b : own);
  return before && (!ahead || abs(back.z) < abs(forward.z)) ? back : forward;
}
void main() {
  vec2 at = gl_FragCoord.xy / pixels, texel = 1.0 / vec2(textureSize(away, 0));
  float d = awayAt(at);
  if (covered < 0.5) discard;
  vec3 here = placeAt(at, d);
  vec4 clip = projectionMatrix * vec4(here, 1.0);
  gl_FragDepth = 0.5 + 0.5 * clip.z / clip.w;
  vec3 n = normalize(cross(slope(at, vec2(texel.x, 0.0), here), slope(at, vec2(0.0, texel.y), here)));
  vec3 back = normalize(-here);
  float facing = clamp(dot(n, back), 0.0, 1.0), through = texture(thick, at).r;
  vec3 tint = pow(texelFetch(seen, ivec2(at * vec2(textureSize(seen, 0))), 0).rgb, vec3(1.0 / 2.2));
  /* Metres that the light is shifted by, in shares of the picture. */
  vec2 bent = at - 0.5 * n.xy * min(through, 8.0 * size) * 0.25 * vec2(projectionMatrix[0][0], projectionMatrix[1][1]) / clip.w;
  vec3 clear = exp(-through / (7.0 * size) * (1.15 - tint));
  vec3 up = toWorld * n, sky = toWorld * reflect(-back, n);
  vec3 body = tint * (0.55 + 0.25 * up.y + 0.3 * max(dot(up, sunward), 0.0));
  vec3 light = mix(haze, zenith, min(pow(max(sky.y, 0.0), 0.6) * 1.3, 1.0)) * (sky.y < 0.0 ? 0.6 : 1.0);
  float mirrored = 0.02 + 0.98 * pow(1.0 - facing, 5.0);
  vec3 lit = mix(texture(behind, clamp(bent, vec2(0.0), vec2(1.0))).rgb * clear + body * (1.0 - clear), light, mirrored);
  picture = vec4(lit + 0.6 * pow(max(dot(sky, sunward), 0.0), 120.0), 1.0);
}`;

/** What such a renderer lacks, or null. */
export function lackOf(renderer) {
  return renderer.getContext().getExtension("EXT_color_buffer_float") ? null
    : "this browser does not draw into floating-point textures (EXT_color_buffer_float)";
}

const quad = new PlaneGeometry(2, 2);
const shader = (fragmentShader, uniforms, more = {}) => new ShaderMaterial({
  glslVersion: GLSL3, vertexShader: FULL, fragmentShader, depthTest: false, depthWrite: false, blending: NoBlending, toneMapped: false,
  uniforms: Object.fromEntries(Object.entries(uniforms).map(([name, value]) => [name, { value }])), ...more,
});

/** A scene of one mesh. */
function alone(geometry, material) {
  const scene = new Scene(), mesh = Object.assign(new Mesh(geometry, material), { frustumCulled: false });
  scene.add(mesh);
  return scene;
}

export class Surface {
  #choice = "automatic";
  #lack;
  /** The time of a picture that was too long, ms, of how many particles; null: none was. */
  #slow = null;
  #slowCount = 0;
  /** Size of the last picture. */
  #windowed = new Vector2();
  #times = [];
  #pictures = 0;
  #size = new Vector2();
  #balls = new InstancedBufferGeometry();
  #capacity = 0;
  #from = new OrthographicCamera();
  #bodies = posed(new MeshDepthMaterial({ colorWrite: false }));
  #targets = null;

  constructor(renderer) {
    this.#lack = lackOf(renderer);
    /** Most time of a picture with the surface, ms. */
    this.longest = 1000 / 30;
    /** Particles that it has. */
    this.count = 0;
    /** Grows with each change of what is drawn. */
    this.version = 0;
    /** The last measured time of a picture, ms. */
    this.measured = null;
    this.#balls.setAttribute("position", quad.getAttribute("position"));
    this.#balls.setIndex(quad.getIndex());
    const balls = (fragmentShader, more) => shader(fragmentShader, {}, { vertexShader: BALLS, depthTest: true, ...more });
    this.front = alone(this.#balls, balls(FRONT, { depthWrite: true }));
    this.thick = alone(this.#balls, balls(THICK, { blending: CustomBlending, blendEquation: AddEquation, blendSrc: OneFactor, blendDst: OneFactor }));
    this.smooth = alone(quad, shader(SMOOTH, { away: null, way: new Vector2(), texels: 1 }));
    this.over = alone(quad, shader(OVER, { away: null, seen: null, thick: null, behind: null, toWorld: new Matrix3(), sunward: new Vector3(),
      zenith: new Color(), haze: new Color(), pixels: new Vector2() }, { depthTest: true, depthWrite: true }));
  }

  get choice() { return this.#choice; }
  set choice(choice) {
    this.#choice = choice;
    this.retry();
  }

  /** An automatic choice is made anew: another world, window or wish. */
  retry() {
    this.#slow = null;
    this.#times = [];
    this.#pictures = 0;
    this.measured = null;
    this.version++;
  }

  /** Whether fluids are drawn as a surface. */
  get on() { return this.#lack === null && this.#choice !== "balls" && (this.#choice === "surface" || this.#slow === null); }

  /** What is drawn, and the reason. */
  get why() {
    const ms = (time) => `${time.toPrecision(2)} ms`, allowed = `${ms(this.longest)} are allowed`;
    if (this.#choice === "balls") return "Balls, as chosen.";
    if (this.#lack !== null) return `Balls: ${this.#lack}.`;
    if (this.#choice === "automatic" && this.#slow !== null)
      return `Balls: with the surface a picture took ${ms(this.#slow)}, and ${allowed}. Choose “surface” to see it all the same.`;
    const time = this.measured === null ? "" : `; a picture takes ${ms(this.measured)}`;
    return `Surface${this.#choice === "surface" ? ", as chosen" : ""}${time}.`;
  }

  /** Whether the time of the next picture is to be measured. */
  get probing() { return this.on && this.count > 0 && (this.#pictures <= PROBES || this.#pictures % PROBE_AGAIN < PROBES); }

  /** A measured picture took so long, ms. */
  took(ms) {
    if (this.#pictures <= 1) return; // the shaders were compiled
    this.#times.push(ms);
    const hopeless = this.#choice === "automatic" && ms > HOPELESS * this.longest;
    if (this.#times.length < PROBES && !hopeless) return;
    this.measured = hopeless ? ms : this.#times.sort((a, b) => a - b)[PROBES >> 1];
    this.#times = [];
    if (this.#choice !== "automatic" || this.measured <= this.longest) return;
    this.#slow = this.measured;
    this.#slowCount = this.count;
    this.version++;
  }

  /** Takes the particles: [{places, colours, radius}], numbers of three each. */
  fill(clouds) {
    this.count = clouds.reduce((sum, { places }) => sum + places.length / 3, 0);
    if (this.#slow !== null && this.count < this.#slowCount / 2) this.retry();
    if (!this.on || this.count === 0) return;
    if (this.count > this.#capacity) {
      this.#capacity = 2 ** Math.ceil(Math.log2(this.count));
      for (const [name, width] of [["place", 3], ["tint", 3], ["radius", 1]]) {
        const attribute = new InstancedBufferAttribute(new Float32Array(this.#capacity * width), width);
        attribute.setUsage(DynamicDrawUsage);
        this.#balls.setAttribute(name, attribute);
      }
    }
    const { place, tint, radius } = this.#balls.attributes;
    let at = 0;
    for (const cloud of clouds) {
      place.array.set(cloud.places, 3 * at);
      tint.array.set(cloud.colours, 3 * at);
      radius.array.fill(cloud.radius, at, at + cloud.places.length / 3);
      at += cloud.places.length / 3;
    }
    for (const attribute of [place, tint, radius]) attribute.needsUpdate = true;
    this.#balls.instanceCount = this.count;
  }

  #fit(renderer) {
    const { width, height } = renderer.getDrawingBufferSize(this.#size);
    if (this.#targets?.width === width && this.#targets.height === height) return this.#targets;
    if (this.#targets !== null) {
      for (const target of this.#targets.all) target.dispose();
      this.#targets.behind.dispose();
    }
    const plain = { minFilter: NearestFilter, magFilter: NearestFilter, generateMipmaps: false };
    const make = (options) => new WebGLRenderTarget(Math.ceil(width / COARSE), Math.ceil(height / COARSE), { ...plain, ...options });
    const front = make({ count: 2, format: RGFormat, type: FloatType });
    Object.assign(front.textures[1], { format: RGBAFormat, type: UnsignedByteType });
    const thick = make({ format: RedFormat, type: HalfFloatType });
    const smooth = [0, 1].map(() => make({ format: RGFormat, type: FloatType, depthBuffer: false }));
    this.#targets = { width, height, front, thick, smooth, all: [front, thick, ...smooth], behind: new FramebufferTexture(width, height) };
    return this.#targets;
  }

  /** Draws the surface over the picture of everything else. */
  draw({ renderer, scene, camera, sunward, colours }) {
    if (!renderer.getDrawingBufferSize(this.#size).equals(this.#windowed)) {
      this.#windowed.copy(this.#size);
      if (this.#slow !== null) this.retry();
    }
    if (!this.on || this.count === 0) return;
    this.#pictures++;
    const { front, thick, smooth, behind, width, height } = this.#fit(renderer), { autoClear, shadowMap } = renderer, { mask } = camera.layers;
    const { autoUpdate } = shadowMap, background = renderer.getClearColor(new Color()), alpha = renderer.getClearAlpha();
    renderer.copyFramebufferToTexture(behind);
    shadowMap.autoUpdate = false;
    renderer.autoClear = true;
    renderer.setClearColor(0, 0);
    const into = (target, what, from) => {
      renderer.setRenderTarget(target);
      renderer.render(what, from);
    };
    into(front, this.front, camera);
    camera.layers.set(HIDES);
    scene.overrideMaterial = this.#bodies;
    into(thick, scene, camera);
    scene.overrideMaterial = null;
    camera.layers.mask = mask;
    renderer.autoClear = false;
    into(thick, this.thick, camera);
    const { uniforms } = this.smooth.children[0].material;
    // Texels of a metre at a distance of 1 m: the camera is a perspective one, because planar worlds have no particles.
    uniforms.texels.value = 0.5 * front.height * camera.projectionMatrix.elements[5];
    let from = front.textures[0];
    for (let i = 0; i < 2 * ROUNDS; i++) {
      uniforms.away.value = from;
      uniforms.way.value.set(i % 2, 1 - (i % 2));
      into(smooth[i % 2], this.smooth, this.#from);
      from = smooth[i % 2].texture;
    }
    const over = this.over.children[0].material.uniforms;
    const textures = { away: from, seen: front.textures[1], thick: thick.texture, behind };
    for (const [name, texture] of Object.entries(textures)) over[name].value = texture;
    over.toWorld.value.setFromMatrix4(camera.matrixWorld);
    over.sunward.value.copy(sunward);
    over.zenith.value.copy(colours.zenith);
    over.haze.value.copy(colours.haze);
    over.pixels.value.set(width, height);
    into(null, this.over, camera);
    renderer.setClearColor(background, alpha);
    renderer.autoClear = autoClear;
    shadowMap.autoUpdate = autoUpdate;
  }
}
