import { Utf8Check } from './utf8-check.js';

/** The bytes are not a valid JSON string; the message states why. */
export class BadJsonString extends Error {
  override readonly name = 'BadJsonString';
}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const LOWEST_IN_STRING = 0x20;
const UNICODE_ESCAPE = 0x75;
const HEX_DIGITS = 4;

const SIMPLE_ESCAPES: ReadonlyMap<number, number> = new Map(
  [...'"\\/']
    .map((char): [number, number] => [char.charCodeAt(0), char.charCodeAt(0)])
    .concat([
      [0x62, 0x08],
      [0x66, 0x0c],
      [0x6e, 0x0a],
      [0x72, 0x0d],
      [0x74, 0x09],
    ]),
);

/** Receives a piece of the text; with `isLast` the rest of its chunk is no longer needed. */
export type EmitText = (text: Buffer, isLast: boolean) => void;

/** 1 for each byte that is literal in a string. */
const PLAIN = Uint8Array.from({ length: 256 }, (_, byte) =>
  Number(byte >= LOWEST_IN_STRING && byte !== QUOTE && byte !== BACKSLASH),
);

const NO_DIGIT = 255;

/** The value of each byte as a hexadecimal digit. */
const DIGITS = Uint8Array.from({ length: 256 }, (_, byte) => {
  const digit = '0123456789abcdef'.indexOf(String.fromCharCode(byte).toLowerCase());
  return digit === -1 ? NO_DIGIT : digit;
});

/** The position of the first byte at or after `from` that is not literal. */
const plainUntil = (chunk: Buffer, from: number): number => {
  let at = from;
  while (PLAIN[chunk[at] ?? 0] === 1) at++;
  return at;
};

/**
 * Like `plainUntil`, but also moves the bytes before that position to `to`. The runs are short, so a loop is faster
 * than a call.
 */
const movePlain = (chunk: Buffer, from: number, to: number): number => {
  let at = from;
  let out = to;
  for (let byte = chunk[at] ?? 0; PLAIN[byte] === 1; byte = chunk[++at] ?? 0) chunk[out++] = byte;
  return at;
};

/**
 * Turns the bytes between the quotes of one JSON string into the bytes of the text it encodes. Text without escapes is
 * UTF-8 on both sides, so nothing is decoded: the text overwrites its own chunk, which works because no escape is
 * shorter than its decoded text.
 */
export class JsonStringBytes {
  readonly #check = new Utf8Check();
  /** The part of an escape received so far: `\`, or `\u` and digits. */
  #escape: 'none' | 'begun' | 'digits' = 'none';
  #digits = 0;
  #code = 0;
  /** A high surrogate, which a low one must follow directly; 0 if there is none. */
  #high = 0;

  /**
   * Reads from `from` and returns the position of the closing quote, or -1 if the chunk does not contain it. Passes the
   * text to `emit`, piece by piece; the pieces are views of `chunk`, which is overwritten. Throws `BadJsonString`.
   */
  read(chunk: Buffer, from: number, emit: EmitText): number {
    let at = from;
    while (this.#isMidEscape && at < chunk.length) at = this.#readCarried(chunk, at, emit);
    if (this.#isMidEscape) return -1;
    const start = at;
    let out = at;
    while (at < chunk.length) {
      const end = out === at ? plainUntil(chunk, at) : movePlain(chunk, at, out);
      out += end - at;
      at = end;
      if (chunk[at] !== BACKSLASH) break;
      this.#escape = 'begun';
      for (at++; this.#isMidEscape && at < chunk.length; at++) {
        const code = this.#continue(chunk[at] as number);
        if (code >= 0) out = writeUtf8(chunk, out, code);
      }
    }
    const isOpen = at === chunk.length;
    this.#pass(chunk.subarray(start, out), emit, isOpen);
    if (isOpen) return -1;
    if (chunk[at] !== QUOTE) throw new BadJsonString('contains a control character');
    if (!this.#check.isWhole) throw new BadJsonString('is not UTF-8');
    return at;
  }

  get #isMidEscape(): boolean {
    return this.#escape !== 'none' || this.#high !== 0;
  }

  /** An escape that began in the previous chunk may decode to more bytes than remain of it here. */
  #readCarried(chunk: Buffer, at: number, emit: EmitText): number {
    const code = this.#continue(chunk[at] as number);
    if (code >= 0) {
      const text = Buffer.alloc(4);
      this.#pass(text.subarray(0, writeUtf8(text, 0, code)), emit, false);
    }
    return at + 1;
  }

  #pass(text: Buffer, emit: EmitText, isLast: boolean): void {
    if (text.length === 0) return;
    if (!this.#check.accepts(text)) throw new BadJsonString('is not UTF-8');
    emit(text, isLast);
  }

  /** Takes one byte of an escape; returns the character that it completes, or -1. */
  #continue(byte: number): number {
    if (this.#escape === 'digits') return this.#takeDigit(byte);
    if (this.#escape === 'none') {
      // After a high surrogate.
      if (byte !== BACKSLASH) throw loneSurrogate();
      this.#escape = 'begun';
      return -1;
    }
    if (byte === UNICODE_ESCAPE) {
      this.#escape = 'digits';
      this.#digits = 0;
      this.#code = 0;
      return -1;
    }
    if (this.#high !== 0) throw loneSurrogate();
    const decoded = SIMPLE_ESCAPES.get(byte);
    if (decoded === undefined) throw new BadJsonString('holds an unknown escape');
    this.#escape = 'none';
    return decoded;
  }

  #takeDigit(byte: number): number {
    const digit = DIGITS[byte] ?? NO_DIGIT;
    if (digit === NO_DIGIT) throw new BadJsonString('holds an unknown escape');
    this.#code = this.#code * 16 + digit;
    if (++this.#digits < HEX_DIGITS) return -1;
    this.#escape = 'none';
    return this.#pair(this.#code);
  }

  #pair(unit: number): number {
    const high = this.#high;
    this.#high = 0;
    const isLow = unit >= 0xdc00 && unit <= 0xdfff;
    if (isLow !== (high !== 0)) throw loneSurrogate();
    if (isLow) return 0x10000 + ((high - 0xd800) << 10) + (unit - 0xdc00);
    if (unit < 0xd800 || unit > 0xdbff) return unit;
    this.#high = unit;
    return -1;
  }
}

const loneSurrogate = (): BadJsonString => new BadJsonString('contains a lone surrogate');

const writeUtf8 = (target: Buffer, at: number, code: number): number => {
  let out = at;
  if (code < 0x80) target[out++] = code;
  else if (code < 0x800) {
    target[out++] = 0xc0 | (code >> 6);
    target[out++] = 0x80 | (code & 0x3f);
  } else if (code < 0x10000) {
    target[out++] = 0xe0 | (code >> 12);
    target[out++] = 0x80 | ((code >> 6) & 0x3f);
    target[out++] = 0x80 | (code & 0x3f);
  } else {
    target[out++] = 0xf0 | (code >> 18);
    target[out++] = 0x80 | ((code >> 12) & 0x3f);
    target[out++] = 0x80 | ((code >> 6) & 0x3f);
    target[out++] = 0x80 | (code & 0x3f);
  }
  return out;
};
