/** Materials that draw instances: each has a place and a turn; lit ones are dimmed where little of the sky is seen (shade.js). */
import { Matrix4, Vector2 } from "three";

/** The attributes of an instance, and how a vector of its shape is turned. */
export const POSE = `
attribute vec3 place;
attribute vec4 turn;
vec3 turned(vec3 v) { return v + 2.0 * cross(turn.xyz, cross(turn.xyz, v) + turn.w * v); }
`;

/** What the lit materials of a page read; Shade sets it. */
export const shadeUniforms = {
  openSky: { value: null }, under: { value: null }, toUnder: { value: new Matrix4() }, underScale: { value: new Vector2() },
};

/** Taps of the contact shadow, on a spiral that fills a disc. */
const TAPS = 16;

/** The share of the sky's light that a fragment gets: what its pixel sees of the sky, and on floors what is above it. */
const OPENNESS = `
uniform sampler2D openSky;
varying vec3 vAt;
float seen() { return textureSize(openSky, 0).x > 1 ? texelFetch(openSky, ivec2(gl_FragCoord.xy), 0).r : 1.0; }
#ifdef FLOOR
uniform sampler2D under;
uniform mat4 toUnder;
uniform vec2 underScale;
float covered(float up) {
  vec3 p = (toUnder * vec4(vAt, 1.0)).xyz;
  if (up < 0.9 || any(greaterThan(abs(p - 0.5), vec3(0.5))) || textureSize(under, 0).x <= 1) return 0.0;
  float sum = 0.0;
  for (int i = 0; i < ${TAPS}; i++) {
    float away = sqrt((float(i) + 0.5) / ${TAPS}.0), angle = 2.399963 * float(i);
    float above = texture2D(under, p.xy + underScale.x * away * vec2(cos(angle), sin(angle))).r;
    float gap = above - p.z;
    sum += above < 1.0 && gap > -0.02 ? exp(-max(gap, 0.0) * underScale.y) : 0.0;
  }
  return sum / ${TAPS}.0;
}
#else
float covered(float up) { return 0.0; }
#endif
`;
const DIM = `
#include <lights_fragment_begin>
{
  float up = dot(normal, (viewMatrix * vec4(0.0, 1.0, 0.0, 0.0)).xyz);
  float open = seen() * (1.0 - 0.8 * covered(up));
  irradiance *= mix(0.5 + 0.5 * open, open, 0.5 + 0.5 * up);
}
`;

/** Lets a material draw instances. `lit`: whether light falls on it. */
export function posed(material, { lit = false } = {}) {
  material.onBeforeCompile = (shader) => {
    shader.vertexShader = POSE + (lit ? "varying vec3 vAt;\n" : "") + shader.vertexShader
      .replace("#include <beginnormal_vertex>", "#include <beginnormal_vertex>\nobjectNormal = turned(objectNormal);")
      .replace("#include <begin_vertex>", `#include <begin_vertex>\ntransformed = turned(transformed) + place;${lit ? " vAt = transformed;" : ""}`);
    if (!lit) return;
    Object.assign(shader.uniforms, shadeUniforms);
    shader.fragmentShader = OPENNESS + shader.fragmentShader.replace("#include <lights_fragment_begin>", DIM);
  };
  material.customProgramCacheKey = () => (lit ? "posed lit" : "posed");
  return material;
}
