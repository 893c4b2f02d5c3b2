import { JSON_BODY_LIMIT } from '@berth/contracts/schema';
import { payloadTooLarge } from '../http/error-response.js';
import { parseJsonBody } from '../http/json-body.js';
import { invalidRequest, type HttpRefusal } from '../http/http-refusal.js';
import { ownsBuffer } from './outgoing-bytes.js';
import { BadJsonString, JsonStringBytes } from './json-string-bytes.js';

/** Receives the text of the member `content` as it arrives. */
export interface ContentSink {
  begin(): void;
  /** With `isLast` the rest of the chunk is no longer needed. */
  write(text: Buffer, isLast: boolean): void;
}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const OPENING = new Set([0x7b, 0x5b]);
const CLOSING = new Set([0x7d, 0x5d]);
const COLON = 0x3a;
const COMMA = 0x2c;
const WHITE = new Set([0x20, 0x09, 0x0a, 0x0d]);

/**
 * Reads a JSON object whose member `content` is a string of any length. That string goes to the sink as it arrives. The
 * rest, at most 1 MiB, is buffered with an empty string in the place of `content`, and parsed at the end like every
 * other JSON body. The result is that of a single parser, except that a repeated `content` is refused.
 */
export class ContentBody {
  #rest: Buffer = Buffer.alloc(1_024);
  #restBytes = 0;
  #place: 'rest' | 'string' | 'content' = 'rest';
  #escaped = false;
  #depth = 0;
  #isObject = false;
  /** Whether the next string of the outermost object names a member. */
  #awaitsName = false;
  #nameFrom = -1;
  #content: JsonStringBytes | undefined;
  #contentIsNext = false;

  constructor(private readonly sink: ContentSink) {}

  /** Takes a chunk of the body and overwrites it. Throws 400 and, when the rest is too large, 413. */
  push(chunk: Buffer): void {
    let at = 0;
    while (at < chunk.length) {
      at = this.#place === 'content' ? this.#readContent(chunk, at) : this.#readRest(chunk, at);
    }
  }

  /** Ends the body and returns it with an empty `content`. Throws 400. */
  finish(): unknown {
    if (this.#place === 'content') throw badBody('The body is not valid JSON.');
    return parseJsonBody(this.#rest.subarray(0, this.#restBytes), {
      contentType: undefined,
      contentEncoding: undefined,
    });
  }

  #readContent(chunk: Buffer, at: number): number {
    try {
      const end =
        this.#content?.read(chunk, at, (text, isLast) =>
          this.sink.write(text, isLast && ownsBuffer(chunk)),
        ) ?? -1;
      if (end === -1) return chunk.length;
      this.#place = 'rest';
      this.#keep(QUOTE);
      return end + 1;
    } catch (error) {
      if (!(error instanceof BadJsonString)) throw error;
      throw invalidRequest([{ path: 'content', message: error.message }]);
    }
  }

  #readRest(chunk: Buffer, from: number): number {
    for (let at = from; at < chunk.length; at++) {
      const byte = chunk[at] as number;
      this.#keep(byte);
      if (this.#place === 'string') this.#inString(byte);
      else if (byte === QUOTE) {
        if (this.#beginString()) return at + 1;
      } else this.#between(byte);
    }
    return chunk.length;
  }

  #inString(byte: number): void {
    if (this.#escaped) this.#escaped = false;
    else if (byte === BACKSLASH) this.#escaped = true;
    else if (byte === QUOTE) this.#endString();
  }

  /** Returns whether the text of `content` begins. */
  #beginString(): boolean {
    if (this.#contentIsNext) {
      if (this.#content !== undefined) throw invalidRequest([{ path: 'content', message: 'occurs twice' }]);
      this.#contentIsNext = false;
      this.#content = new JsonStringBytes();
      this.#place = 'content';
      this.sink.begin();
      return true;
    }
    this.#place = 'string';
    this.#nameFrom = this.#awaitsName ? this.#restBytes - 1 : -1;
    this.#awaitsName = false;
    return false;
  }

  #endString(): void {
    this.#place = 'rest';
    if (this.#nameFrom !== -1 && isContent(this.#rest.toString('utf8', this.#nameFrom, this.#restBytes)))
      return;
    this.#nameFrom = -1;
  }

  #between(byte: number): void {
    if (WHITE.has(byte)) return;
    this.#contentIsNext = byte === COLON && this.#depth === 1 && this.#nameFrom !== -1;
    this.#nameFrom = -1;
    if (OPENING.has(byte)) {
      if (this.#depth++ === 0) this.#isObject = byte === 0x7b;
      this.#awaitsName = this.#depth === 1 && this.#isObject;
    } else if (CLOSING.has(byte)) this.#depth--;
    else if (byte === COMMA) this.#awaitsName = this.#depth === 1 && this.#isObject;
  }

  #keep(byte: number): void {
    if (this.#restBytes === JSON_BODY_LIMIT) throw payloadTooLarge(JSON_BODY_LIMIT);
    if (this.#restBytes === this.#rest.length)
      this.#rest = Buffer.concat([this.#rest, Buffer.alloc(this.#rest.length)]);
    this.#rest[this.#restBytes++] = byte;
  }
}

const badBody = (message: string): HttpRefusal => invalidRequest([{ path: '', message }]);

const isContent = (name: string): boolean => {
  try {
    return JSON.parse(name) === 'content';
  } catch {
    return false;
  }
};
