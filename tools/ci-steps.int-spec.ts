import { describe, expect, it } from 'vitest';
import { CI_LIMITS, runCi } from './ci-steps.mjs';

const program = (body: string): string[] => [process.execPath, '-e', body];
const printing = (line: string, code = 0): string[] =>
  program(`console.log(${JSON.stringify(line)}); process.exitCode = ${code};`);
const endless = program('console.log("begun"); setInterval(() => undefined, 1000);');

const suite = printing('5 passed, 0 failed');
const prepare = printing('prepared');
const containers = printing('7 passed, 0 failed');

const run = async (commands: object, limits: object = {}) => {
  let printed = '';
  const print = (text: string): void => {
    printed += text;
  };
  const all = { suite, prepare, containers, ...commands };
  const counts = await runCi(all, { ...CI_LIMITS, ...limits }, print);
  return { counts, printed };
};

describe('a run in CI', () => {
  it('counts the suite and the container tests, and prints the output of both', async () => {
    const { counts, printed } = await run({});
    expect(counts).toEqual({ passed: 12, failed: 0 });
    expect(printed).toMatch(/5 passed.*\nprepared\n7 passed/);
  });

  it.each([
    ['a container test', { containers: printing('6 passed, 1 failed', 1) }, { passed: 11, failed: 1 }],
    ['the run of the container tests', { containers: printing('', 1) }, { passed: 5, failed: 1 }],
    ['the suite', { suite: printing('4 passed, 1 failed', 1) }, { passed: 11, failed: 1 }],
  ])('fails if %s does', async (_what, commands, counts) => {
    expect((await run(commands)).counts).toEqual(counts);
  });

  it.each([
    [
      'lacks what the container tests need',
      { prepare: printing('The container tests were not run: no Go.', 69) },
    ],
    ['cannot prepare them', { prepare: printing('', 1) }],
  ])('on a machine that %s says so, and counts the suite alone', async (_what, commands) => {
    const { counts, printed } = await run({ ...commands, containers: printing('0 passed, 1 failed', 1) });
    expect(counts).toEqual({ passed: 5, failed: 0 });
    expect(printed.match(/The container tests were not run: .+\./g)).toHaveLength(1);
  });

  it('ends container tests that take too long, which fails', async () => {
    const { counts, printed } = await run({ containers: endless }, { containers: 500 });
    expect(counts).toEqual({ passed: 5, failed: 1 });
    expect(printed).toContain('took too long');
  });

  it.each([
    ['their preparation takes too long', { prepare: endless }, { prepare: 500 }],
    ['the suite has taken most of the time', {}, { all: 60_000, least: 61_000 }],
  ])('leaves them out if %s', async (_what, commands, limits) => {
    const { counts, printed } = await run(commands, limits);
    expect(counts).toEqual({ passed: 5, failed: 0 });
    expect(printed).toMatch(/The container tests were not run: .+\./);
  });
});
