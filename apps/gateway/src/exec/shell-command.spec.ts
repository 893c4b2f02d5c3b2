import { execFileSync } from 'node:child_process';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { toShellCommand } from './shell-command.js';

const run = (command: string): string => execFileSync('/bin/sh', ['-c', command], { encoding: 'utf8' });

describe('a list of arguments', () => {
  it('reaches the program item by item, with any content', () => {
    const item = fc
      .string({ unit: 'grapheme' })
      .filter((text) => !text.includes('\0') && text.isWellFormed());
    fc.assert(
      fc.property(fc.array(item, { maxLength: 5 }), (items) => {
        const printed = run(toShellCommand(['printf', '%s\\0', ...items, 'end']));
        expect(printed.split('\0').slice(0, -1)).toEqual([...items, 'end']);
      }),
      { numRuns: 40 },
    );
  });

  it('is not expanded, split or run by the shell', () => {
    const hostile = [
      '$(echo no)',
      '`echo no`',
      '$HOME',
      '*',
      'a  b',
      "it's",
      "'; echo no; '",
      '; echo no',
      '',
      '\n',
      '"',
      '\\',
    ];
    expect(run(toShellCommand(['printf', '[%s]', ...hostile]))).toBe(
      hostile.map((text) => `[${text}]`).join(''),
    );
  });
});

describe('a string', () => {
  it('reaches the shell unchanged', () => {
    expect(toShellCommand('echo $((1+1)) | cat')).toBe('echo $((1+1)) | cat');
  });
});
