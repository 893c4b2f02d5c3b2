import { CUT_MARK, KEPT_CHARACTERS } from '@berth/guest-protocol';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { OutputCursor } from './output-cursor.js';
import { OutputRings } from './output-rings.js';
import { OutputTail } from './output-tail.js';

const rings = new OutputRings('', Infinity);

// Every code point except the surrogates. fast-check's own unit `binary` takes seconds to build.
const anyCharacter = fc
  .oneof(fc.integer({ min: 0, max: 0xd7ff }), fc.integer({ min: 0xe000, max: 0x10ffff }))
  .map((code) => String.fromCodePoint(code));

/** Reference implementation of the rule, applied to the whole stream. */
const shown = (bytes: Uint8Array, kept: number): string => {
  const characters = [...new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes)];
  return characters.length <= kept ? characters.join('') : CUT_MARK + characters.slice(-kept).join('');
};

const tailOf = (chunks: readonly Uint8Array[], kept: number): OutputTail => {
  const tail = new OutputTail(rings, kept);
  for (const chunk of chunks) tail.push(chunk);
  return tail;
};

// Makes bytes that start, continue or break characters of every length far more frequent than by chance.
const byte = fc.oneof(
  fc.integer({ min: 0, max: 255 }),
  fc.constantFrom(0x80, 0xbf, 0xa0, 0x9f, 0xc2, 0xe0, 0xed, 0xef, 0xbb, 0xf0, 0xf4, 0xf8, 0xff, 0x41),
);
const piece = fc.oneof(
  fc.array(byte, { maxLength: 40 }).map((bytes) => Uint8Array.from(bytes)),
  fc.string({ unit: anyCharacter, maxLength: 20 }).map((text) => Buffer.from(text)),
  fc.constantFrom('𝄞', '€', 'ä', '\u{feff}', '\0').map((text) => Buffer.from(text.repeat(7))),
  fc.integer({ min: 1, max: 40 }).map((length) => new Uint8Array(length).fill(0x80)),
);
const pieces = fc.array(piece, { maxLength: 30 });

describe('the tail of an output', () => {
  it('shows the end of what a decoder of the whole stream would show, for any bytes in any chunks', () => {
    fc.assert(
      fc.property(pieces, fc.integer({ min: 1, max: 12 }), (chunks, kept) => {
        expect(tailOf(chunks, kept).text()).toBe(shown(Buffer.concat(chunks), kept));
      }),
      { numRuns: 3_000 },
    );
  });

  it.each([
    ['exactly as many characters as are kept', 'x'.repeat(KEPT_CHARACTERS), false],
    ['one more', 'x'.repeat(KEPT_CHARACTERS + 1), true],
    ['as many pairs as are kept', '𝄞'.repeat(KEPT_CHARACTERS), false],
    ['one pair more', '𝄞'.repeat(KEPT_CHARACTERS + 1), true],
    ['a letter and pairs', `a${'𝄞'.repeat(KEPT_CHARACTERS)}`, true],
  ])('of %s is truncated only where necessary', (_, text, isCut) => {
    const all = Buffer.from(text);
    const tail = tailOf([all.subarray(0, 100_001), all.subarray(100_001)], KEPT_CHARACTERS);
    expect(tail.text() === shown(all, KEPT_CHARACTERS)).toBe(true);
    expect(tail.text().startsWith(CUT_MARK)).toBe(isCut);
  });

  it('shows the end of a huge stream of random bytes like any other', () => {
    fc.assert(
      fc.property(
        fc.uint8Array({ minLength: 1_000, maxLength: 3_000, size: 'max' }),
        fc.integer({ min: 1, max: 3 }),
        (pattern, step) => {
          const all = Buffer.alloc(3_000_000, pattern);
          const tail = new OutputTail(rings);
          for (let at = 0; at < all.length; at += 65_536 * step) {
            tail.push(all.subarray(at, at + 65_536 * step));
          }
          // Compare outside `expect`, which would take minutes to print a difference.
          expect(tail.text() === shown(all, KEPT_CHARACTERS)).toBe(true);
        },
      ),
      { numRuns: 8 },
    );
  });

  it('uses only as much memory as it has received, up to its limit', () => {
    const before = process.memoryUsage().arrayBuffers;
    const small = Array.from({ length: 100 }, () => tailOf([Buffer.from('hello')], KEPT_CHARACTERS));
    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(1_000_000);
    const large = tailOf(Array<Buffer>(100).fill(Buffer.alloc(1_000_000)), KEPT_CHARACTERS);
    expect(large.total - large.start).toBe(4 * KEPT_CHARACTERS + 16);
    expect(small).toHaveLength(100);
  });
});

describe('a reader of an output', () => {
  it('that starts late gets the retained characters in parts, so that many slow readers hold little', () => {
    const all = 'ä𝄞x'.repeat(200_000);
    const tail = tailOf([Buffer.from(all)], KEPT_CHARACTERS);
    const cursor = new OutputCursor(tail);
    const parts: string[] = [];
    while (cursor.behind) parts.push(cursor.next());
    expect(Math.max(...parts.map(({ length }) => length))).toBeLessThanOrEqual(65_536 + CUT_MARK.length);
    expect(parts.join('') === shown(Buffer.from(all), KEPT_CHARACTERS)).toBe(true);
  });

  const drain = (cursor: OutputCursor): string => {
    let text = '';
    while (cursor.behind) text += cursor.next();
    return text;
  };

  it('that keeps up reads every character once', () => {
    fc.assert(
      fc.property(pieces, (chunks) => {
        const tail = new OutputTail(rings);
        const cursor = new OutputCursor(tail);
        let text = '';
        for (const chunk of chunks) {
          tail.push(chunk);
          text += drain(cursor);
        }
        expect(text + cursor.end()).toBe(shown(Buffer.concat(chunks), KEPT_CHARACTERS));
      }),
      { numRuns: 500 },
    );
  });

  it('that starts late reads the retained output, then new output', () => {
    fc.assert(
      fc.property(pieces, pieces, fc.integer({ min: 20, max: 60 }), (before, after, kept) => {
        const tail = tailOf(before, kept);
        const cursor = new OutputCursor(tail);
        let text = drain(cursor);
        for (const chunk of after) {
          tail.push(chunk);
          text += drain(cursor);
        }
        text += cursor.end();
        const all = Buffer.concat([...before, ...after]);
        const whole = new TextDecoder('utf-8', { ignoreBOM: true }).decode(all);
        const last = text.slice(text.lastIndexOf(CUT_MARK) + (text.includes(CUT_MARK) ? CUT_MARK.length : 0));
        expect(whole.endsWith(last)).toBe(true);
        if (!text.includes(CUT_MARK)) expect(text).toBe(whole);
      }),
      { numRuns: 1_000 },
    );
  });

  it('that falls behind gets the truncation mark and continues with the retained output', () => {
    const tail = new OutputTail(rings, 10);
    const cursor = new OutputCursor(tail);
    tail.push(Buffer.from('begin '));
    expect(drain(cursor)).toBe('begin ');
    tail.push(Buffer.from(`${'lost '.repeat(50)}0123456789`));
    expect(drain(cursor)).toBe(`${CUT_MARK}0123456789`);
    tail.push(Buffer.from(' on'));
    expect(drain(cursor)).toBe(' on');
  });
});
