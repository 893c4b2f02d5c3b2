import { describe, expect, it } from 'vitest';
import { LineSplitter, MAX_LINE_UNITS } from './line-splitter.js';
import { readLevel } from './read-level.js';

describe('the output of a program', () => {
  const split = (...chunks: (string | Buffer)[]): string[] => {
    const lines: string[] = [];
    const splitter = new LineSplitter((line) => lines.push(line));
    for (const chunk of chunks) splitter.push(Buffer.from(chunk));
    splitter.end();
    return lines;
  };

  it('is split into lines, regardless of the chunks', () => {
    expect(split('one\ntw', 'o\r\nthree')).toEqual(['one', 'two', 'three']);
    const bytes = Buffer.from('grün\n');
    expect(split(bytes.subarray(0, 3), bytes.subarray(3))).toEqual(['grün']);
    expect(split('\n \n\n')).toEqual([]);
  });

  it('uses bounded memory and bounded lines, however long a line is', () => {
    const [line, ...more] = split(...Array.from({ length: 1000 }, () => 'x'.repeat(10_000)), '\nnext\n');
    expect(line).toBe(`${'x'.repeat(MAX_LINE_UNITS)} [line cut]`);
    expect(more).toEqual(['next']);
  });

  it.each([
    ['plain', 'stdout', 'info', 'plain'],
    ['plain', 'stderr', 'error', 'plain'],
    ['Warning: old', 'stderr', 'warn', 'Warning: old'],
    ['(node:12) ExperimentalWarning: new', 'stderr', 'warn', '(node:12) ExperimentalWarning: new'],
    ['INFO ready', 'stderr', 'info', 'INFO ready'],
    ['{"level":"warn","msg":"m"}', 'stdout', 'warn', 'm'],
    ['{"level":50,"msg":"pino"}', 'stdout', 'error', 'pino'],
    ['{"level":20,"message":"m"}', 'stderr', 'debug', 'm'],
    ['{"level":"loud","message":"m"}', 'stdout', 'info', 'm'],
    ['{"no":"level"}', 'stdout', 'info', '{"no":"level"}'],
    ['{torn', 'stdout', 'info', '{torn'],
  ] as const)('%s on %s is %s', (line, stream, level, message) => {
    expect(readLevel(line, stream)).toEqual({ level, message });
  });
});
