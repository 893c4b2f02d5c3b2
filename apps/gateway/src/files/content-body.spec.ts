import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { HttpRefusal } from '../http/http-refusal.js';
import { ContentBody } from './content-body.js';

// Every code point except the surrogates. fast-check's own unit `binary` takes seconds to build.
const anyCharacter = fc
  .oneof(fc.integer({ min: 0, max: 0xd7ff }), fc.integer({ min: 0xe000, max: 0x10ffff }))
  .map((code) => String.fromCodePoint(code));

interface Result {
  readonly rest: unknown;
  readonly content: Buffer | undefined;
}

/** Reads `bytes`, cut at the given places. */
const read = (bytes: Buffer, cuts: readonly number[] = []): Result => {
  let content: Buffer | undefined;
  const body = new ContentBody({
    begin: () => (content = Buffer.alloc(0)),
    // Pieces are views of the chunk, so they must be copied, as a socket does.
    write: (text) => (content = Buffer.concat([content ?? Buffer.alloc(0), text])),
  });
  const places = [0, ...cuts.map((cut) => cut % (bytes.length + 1)).toSorted((a, b) => a - b), bytes.length];
  places.slice(1).forEach((end, index) => body.push(Buffer.from(bytes.subarray(places[index], end))));
  return { rest: body.finish(), content };
};

const refusal = (text: string | Buffer, cuts?: readonly number[]): HttpRefusal | undefined => {
  try {
    read(Buffer.from(text), cuts);
    return undefined;
  } catch (error) {
    return error instanceof HttpRefusal ? error : expect.fail(String(error));
  }
};

/** The same text with some characters as escapes, in either case. */
const escaped = (text: string, choices: readonly number[]): string => {
  const units = Array.from({ length: text.length }, (_, index) => {
    const unit = text[index] ?? '';
    const code = unit.charCodeAt(0);
    const hex = code.toString(16).padStart(4, '0');
    const choice = choices[index % choices.length] ?? 0;
    const mustEscape = unit === '"' || unit === '\\' || code < 0x20;
    const isHalf = code >= 0xd800 && code <= 0xdfff;
    if (isHalf || (!mustEscape && choice < 2)) return unit;
    return choice % 2 === 0 ? `\\u${hex}` : `\\u${hex.toUpperCase()}`;
  });
  return `"${units.join('')}"`;
};

const cuts = fc.array(fc.nat(), { maxLength: 40 });
const text = fc.oneof(
  fc.string({ unit: anyCharacter, maxLength: 60 }),
  fc.string({ unit: 'grapheme', maxLength: 40 }),
);
// Unlike JSON.parse, the gateway refuses these two member names.
const anyJson = fc
  .jsonValue({ maxDepth: 3 })
  .filter((value) => !/"(?:__proto__|constructor)"/.test(JSON.stringify(value)));

describe('a body with content', () => {
  it('is read as JSON.parse reads it, with any chunk boundaries', () => {
    const members = fc.array(fc.tuple(fc.constantFrom('path', 'a', 'Content', '', 'content '), anyJson), {
      maxLength: 4,
    });
    const choices = fc.array(fc.nat({ max: 4 }), { minLength: 1, maxLength: 7 });
    fc.assert(
      fc.property(
        members,
        text,
        fc.nat({ max: 4 }),
        choices,
        cuts,
        (others, content, place, picks, where) => {
          const parts = others.map(([name, value]) => `${JSON.stringify(name)} : ${JSON.stringify(value)}`);
          parts.splice(place % (parts.length + 1), 0, `\t"content":\n${escaped(content, picks)} `);
          const json = ` {${parts.join(',')}}\r\n`;
          const result = read(Buffer.from(json), where);
          const expected = JSON.parse(json) as { content: string };
          expect(result.content?.toString('utf8')).toBe(expected.content);
          expect(result.rest).toEqual({ ...expected, content: '' });
        },
      ),
      { numRuns: 2_000 },
    );
  });

  it('is refused whenever JSON.parse refuses it, with any damage and chunk boundaries', () => {
    const json = Buffer.from(
      '{"path":"a\\n","content":"x\\ud83d\\ude00\\t\u00e9\\"y","n":[1,{"content":"in"}],"z":null}',
    );
    fc.assert(
      fc.property(
        fc.nat({ max: json.length - 1 }),
        fc.integer({ min: 1, max: 255 }),
        cuts,
        (at, by, where) => {
          const damaged = Buffer.from(json);
          damaged[at] = (damaged[at] ?? 0) ^ by;
          let expected: unknown;
          try {
            expected = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(damaged));
          } catch {
            expect(refusal(damaged, where)?.status).toBe(400);
            return;
          }
          const { content } = expected as { content?: unknown };
          if (typeof content === 'string' && !content.isWellFormed())
            expect(refusal(damaged, where)?.status).toBe(400);
          else if (typeof content === 'string')
            expect(read(damaged, where).content?.toString()).toBe(content);
          else expect(read(damaged, where).rest).toEqual(expected);
        },
      ),
      { numRuns: 4_000 },
    );
  });

  it('is the same in chunks of single bytes', () => {
    const json = Buffer.from(
      '{"content":"\\ud83d\\ude00 😀 \\u00E9\\\\ é \\b\\f\\n\\r\\t\\/\\"","path":"p"}',
    );
    const every = Array.from(json, (_, index) => index);
    expect(read(json, every).content?.toString()).toBe('😀 😀 é\\ é \b\f\n\r\t/"');
  });

  it('may be empty or missing', () => {
    expect(read(Buffer.from('{"content":""}')).content).toEqual(Buffer.alloc(0));
    expect(read(Buffer.from('{"path":"a"}')).content).toBeUndefined();
    expect(read(Buffer.from('{"\\u0063ontent":"x"}')).content?.toString()).toBe('x');
  });

  it.each(['5', 'null', '["a"]', '{"content":"a"}', 'true'])(
    'that is %s is left to the schema to refuse',
    (value) => {
      expect(read(Buffer.from(`{"content":${value}}`))).toEqual({
        rest: { content: JSON.parse(value) as unknown },
        content: undefined,
      });
    },
  );

  it.each([
    ['twice', '{"content":"a","content":"b"}'],
    ['twice under another spelling', '{"content":"a","\\u0063ontent":"b"}'],
    ['with a lone surrogate', '{"content":"\\ud83d"}'],
    ['with a lone surrogate before text', '{"content":"\\ud83dx"}'],
    ['with a lone surrogate before another escape', '{"content":"\\ud83d\\n"}'],
    ['with the surrogates swapped', '{"content":"\\ude00\\ud83d"}'],
    ['with two high surrogates', '{"content":"\\ud83d\\ud83d\\ude00"}'],
    ['with a control character', '{"content":"a\nb"}'],
    ['with an unknown escape', '{"content":"\\x41"}'],
    ['with a short escape', '{"content":"\\u12"}'],
    ['with spaces for digits', '{"content":"\\u 12a"}'],
    ['that never ends', '{"content":"abc'],
    ['that ends in an escape', '{"content":"abc\\'],
    ['in an array', '[{"content":"a"}]x'],
    ['before garbage', '{"content":"a"}{"content":"b"}'],
    ['without a colon', '{"content" "a"}'],
    ['with a __proto__ next to it', '{"content":"a","__proto__":{}}'],
    ['with deep nesting next to it', `{"content":"a","b":${'['.repeat(65)}${']'.repeat(65)}}`],
  ])('%s is 400', (_what, json) => {
    expect(refusal(json)?.status).toBe(400);
  });

  it.each([
    ['an overlong form', [0xc0, 0xaf]],
    ['a surrogate', [0xed, 0xa0, 0x80]],
    ['a stray byte', [0x80]],
    ['a truncated character', [0xe2, 0x82]],
    ['a byte that UTF-8 never uses', [0xff]],
    ['a character cut by an escape', [0xe2, 0x5c, 0x6e, 0x82, 0xac]],
  ])('that is not UTF-8 is 400 with any chunk boundaries: %s', (_what, bytes) => {
    const json = Buffer.concat([Buffer.from('{"content":"a'), Buffer.from(bytes), Buffer.from('"}')]);
    for (let cut = 0; cut <= json.length; cut++) expect(refusal(json, [cut])?.status).toBe(400);
  });

  it('may be long, but the other members together are at most 1 MiB', () => {
    const long = 'x'.repeat(2_000_000);
    expect(read(Buffer.from(`{"content":"${long}"}`)).content?.length).toBe(2_000_000);
    const frame = '{"content":"","a":""}'.length;
    const beside = (bytes: number): string => `{"a":"${'y'.repeat(bytes - frame)}","content":"x"}`;
    expect(refusal(beside(1_048_576))).toBeUndefined();
    expect(refusal(beside(1_048_577))).toMatchObject({ status: 413, context: { limitBytes: 1_048_576 } });
  });
});
