import { describe, expect, it } from 'vitest';
import { fileNameOf, pathProblem } from './file-path.js';

const codeOf = (path: string): string | undefined => pathProblem(path)?.code;

describe('a path', () => {
  it.each(['a', '', '/', '../x', '/etc/passwd', 'a//b/', ' ', '\n', 'ü'.repeat(127), 'x'.repeat(255)])(
    'is left to the guest when its validation needs the volume: %j',
    (path) => expect(codeOf(path)).toBeUndefined(),
  );

  it.each(['\0', 'a\0b', 'a/\0'])('contains no NUL byte: %j', (path) =>
    expect(codeOf(path)).toBe('invalid_path'),
  );

  it('has segments of at most 255 UTF-8 bytes each', () => {
    expect(codeOf(`${'x'.repeat(255)}/${'y'.repeat(255)}`)).toBeUndefined();
    for (const name of ['x'.repeat(256), 'ü'.repeat(128), '😀'.repeat(64)]) {
      expect(codeOf(name)).toBe('invalid_path');
      expect(codeOf(`/a/${name}/b`)).toBe('invalid_path');
    }
  });

  it('has at most 4,096 bytes', () => {
    expect(codeOf('a/'.repeat(2_048))).toBeUndefined();
    expect(codeOf(`${'a/'.repeat(2_048)}a`)).toBe('invalid_path');
  });
});

describe('the name of an uploaded file', () => {
  it.each([
    ['a.txt', 'a.txt'],
    ['/tmp/a.txt', 'a.txt'],
    ['../../etc/passwd', 'passwd'],
    ['back\\slash', 'back\\slash'],
    ['.hidden', '.hidden'],
  ])('is its last path segment: %j', (sent, name) => expect(fileNameOf(sent)).toBe(name));

  it.each(['', '/', 'a/', '.', '..', 'a/..', 'x'.repeat(256), 'a\0'])(
    'is rejected when it is invalid: %j',
    (sent) => expect(() => fileNameOf(sent)).toThrow(expect.objectContaining({ code: 'invalid_path' })),
  );
});
