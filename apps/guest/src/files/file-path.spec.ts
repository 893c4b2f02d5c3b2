import { describe, expect, it } from 'vitest';
import { below, fileName, numberedName, parsePath } from './file-path.js';

const invalid = expect.objectContaining({ kind: 'invalid', code: 'invalid_path' }) as unknown;

describe('a path', () => {
  it.each([
    ['', false, []],
    ['/', true, []],
    ['a//b/./c/', false, ['a', 'b', 'c']],
    ['/a/../b', true, ['a', '..', 'b']],
    ['...', false, ['...']],
  ])('%j is split into its segments', (path, absolute, parts) => {
    expect(parsePath(path)).toEqual({ absolute, parts });
  });

  it('has segments of at most 255 bytes and at most 4,096 bytes in total', () => {
    expect(parsePath('ä'.repeat(127)).parts).toHaveLength(1);
    expect(parsePath('x/'.repeat(2_048)).parts).toHaveLength(2_048);
    for (const path of ['ä'.repeat(128), 'x/'.repeat(2_048) + 'x', 'a\0', '\uD800']) {
      expect(() => parsePath(path)).toThrow(invalid as Error);
    }
  });

  it('is compared with a parent path segment by segment', () => {
    expect(below(['a', 'b'], ['a', 'b', 'c'])).toEqual(['c']);
    expect(below(['a', 'b'], ['a', 'b'])).toEqual([]);
    expect(below(['a', 'b'], ['a', 'bc'])).toBeUndefined();
    expect(below(['a', 'b'], ['a'])).toBeUndefined();
  });
});

describe('the name of an incoming file', () => {
  it.each([
    ['file', 'file'],
    ['/a/b', 'b'],
    ['C:\\a\\b', 'b'],
    ['a/b\\c', 'c'],
    ['a\\b/c', 'c'],
    ['..a', '..a'],
  ])('%j is %j', (given, name) => {
    expect(fileName(given)).toBe(name);
  });

  it.each(['', '.', '..', 'a/', 'a\\', 'a/..', 'a\0b', 'x'.repeat(256)])('%j is invalid', (given) => {
    expect(() => fileName(given)).toThrow(invalid as Error);
  });

  it.each([
    ['a.txt', 'a (2).txt'],
    ['a', 'a (2)'],
    ['.env', '.env (2)'],
    ['a.', 'a (2).'],
    ['x'.repeat(255), `${'x'.repeat(251)} (2)`],
    [`${'\u{1F600}'.repeat(60)}.gz`, `${'\u{1F600}'.repeat(60)} (2).gz`],
    [`${'\u{1F600}'.repeat(63)}.gz`, `${'\u{1F600}'.repeat(62)} (2).gz`],
  ])('that is taken gets a number before its extension', (name, numbered) => {
    expect(numberedName(name, '2')).toBe(numbered);
  });

  it('has room for the number, however long its extension is', () => {
    const name = numberedName(`a.${'b'.repeat(253)}`, '2');
    expect(Buffer.byteLength(name)).toBeLessThanOrEqual(255);
    expect(name).toMatch(/^a.* \(2\)/);
  });
});
