/**
 * Encodes and decodes messages: content (one MessagePack array) and, on a stream, its bin 32 header
 * (docs/PROTOCOL.md, "frames"). This module does no input or output.
 */
import { Encoder, Decoder } from "@msgpack/msgpack";
import { MESSAGE, STATUS } from "./manifest.js";

/** Largest content the server may send. */
export const FRAME_MAX = 1 << 20;

const HEADER = 5;
const encoder = new Encoder({ ignoreUndefined: true });
const decoder = new Decoder();
const BY_NUMBER = new Map(Object.entries(MESSAGE).map(([name, message]) => [message.number, { name, ...message }]));

/** The server refused a request. `status` is the status name; `field` and `index` name the field and the item refused. */
export class Refused extends Error {
  constructor(code, text, field = "", index = -1) {
    const name = STATUS[code]?.[0] ?? String(code);
    super(`${name}: ${text}${field ? ` (${field})` : ""}`);
    this.name = "Refused";
    this.code = code;
    this.status = name;
    this.field = field;
    this.index = index;
  }
}

/** The connection has ended; `status` is the server's status name, if it gave one. */
export class Closed extends Error {
  constructor(text, status = null) {
    super(text);
    this.name = "Closed";
    this.status = status;
  }
}

/**
 * Encodes the content of a message. `values` are by field name. Fields omitted at the end are not written; fields omitted before
 * a given one are written as their fallback.
 * @param {string} name
 * @param {object} values
 * @returns {Uint8Array} a copy of the caller's own
 */
export function encode(name, values = {}) {
  const { number, map, fields } = MESSAGE[name];
  for (const key of Object.keys(values))
    if (!fields.some(([field]) => field === key)) throw new TypeError(`${name} has no field ${key}`);
  if (map) return encoder.encode([number, values]);
  let last = fields.length;
  while (last > 0 && values[fields[last - 1][0]] === undefined && fields[last - 1][1] !== undefined) last--;
  const items = [number];
  for (const [field, fallback] of fields.slice(0, last)) {
    const value = values[field] === undefined ? fallback : values[field];
    if (value === undefined) throw new TypeError(`${name} needs ${field}`);
    items.push(value);
  }
  return encoder.encode(items);
}

/**
 * Decodes a message from its content: {type, …fields}, with fallbacks for fields missing at the end. Extra items are ignored; an
 * unknown message number gives {type: ""}. Binary fields are views of `content`.
 * @param {Uint8Array} content
 * @throws {Closed} if a required field is missing
 */
export function decode(content) {
  const items = decoder.decode(content);
  const known = Array.isArray(items) ? BY_NUMBER.get(items[0]) : undefined;
  if (known === undefined) return { type: "" };
  const message = { type: known.name };
  const source = known.map ? items[1] ?? {} : null;
  known.fields.forEach(([field, fallback], i) => {
    const value = known.map ? source[field] : items[i + 1];
    if (value === undefined && fallback === undefined)
      throw new Closed(`the server's ${known.name} has no ${field}`, "malformed");
    message[field] = value === undefined ? fallback : value;
  });
  return message;
}

/** `content` with the header that it has on a TCP or Unix stream. */
export function frame(content) {
  const bytes = new Uint8Array(HEADER + content.length);
  bytes[0] = 0xc6;
  new DataView(bytes.buffer).setUint32(1, content.length);
  bytes.set(content, HEADER);
  return bytes;
}

/** Splits a stream into contents. Memory is bounded by FRAME_MAX and the largest piece given. */
export class Splitter {
  #rest = new Uint8Array(0);

  /** Yields every content that is complete now; each is valid until the next call. @throws {Closed} for other bytes */
  *take(piece) {
    let bytes = piece;
    if (this.#rest.length > 0) {
      bytes = new Uint8Array(this.#rest.length + piece.length);
      bytes.set(this.#rest);
      bytes.set(piece, this.#rest.length);
    }
    let at = 0;
    while (bytes.length - at >= HEADER) {
      if (bytes[at] !== 0xc6) throw new Closed(`frame begins with byte ${bytes[at]}, not 0xc6: another protocol`, "malformed");
      const length = new DataView(bytes.buffer, bytes.byteOffset + at).getUint32(1);
      if (length > FRAME_MAX) throw new Closed(`frame of ${length} bytes; at most ${FRAME_MAX} are allowed`, "too_large");
      if (bytes.length - at < HEADER + length) break;
      yield bytes.subarray(at + HEADER, at + HEADER + length);
      at += HEADER + length;
    }
    this.#rest = bytes.slice(at);
  }
}
