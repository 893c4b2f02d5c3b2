import { describe, expect, it } from 'vitest';
import { CI_LIMITS, runCi, shardOf } from './ci-steps.mjs';

const program = (body: string): string[] => [process.execPath, '-e', body];
const printing = (line: string, code = 0): string[] =>
  program(`console.log(${JSON.stringify(line)}); process.exitCode = ${code};`);
const endless = program('console.log("begun"); setInterval(() => undefined, 1000);');

const suite = printing('5 passed, 0 failed');
const prepare = printing('prepared');
const containers = printing('7 passed, 0 failed');
const python = printing('2 passed, 0 failed');
const long = printing('3 passed, 0 failed');
const mutations = printing('12 caught, 0 survived');

const run = async (commands: object, limits: object = {}) => {
  let printed = '';
  const print = (text: string): void => {
    printed += text;
  };
  const all = { suite, prepare, containers, python, long, mutations, ...commands };
  const counts = await runCi(all, { ...CI_LIMITS, ...limits }, print);
  return { counts, printed };
};

describe('a run in CI', () => {
  it('counts the suite, the container tests, those of the Python client, the long ones and the mutations as one, and prints the output of all', async () => {
    const { counts, printed } = await run({});
    expect(counts).toEqual({ passed: 18, failed: 0 });
    expect(printed).toMatch(/5 passed.*\nprepared\n7 passed.*\n2 passed.*\n3 passed.*\n12 caught/);
  });

  it.each([
    ['a container test', { containers: printing('6 passed, 1 failed', 1) }, { passed: 17, failed: 1 }],
    ['the run of the container tests', { containers: printing('', 1) }, { passed: 11, failed: 1 }],
    ['the suite', { suite: printing('4 passed, 1 failed', 1) }, { passed: 17, failed: 1 }],
    ['a test of the Python client', { python: printing('1 passed, 1 failed', 1) }, { passed: 17, failed: 1 }],
    ['a long test', { long: printing('2 passed, 1 failed', 1) }, { passed: 17, failed: 1 }],
    ['a mutation', { mutations: printing('11 caught, 1 survived', 1) }, { passed: 17, failed: 1 }],
  ])('fails if %s does', async (_what, commands, counts) => {
    expect((await run(commands)).counts).toEqual(counts);
  });

  it('shows at its end again how the tests ended that failed', async () => {
    const { printed } = await run({
      suite: program('console.log("These tests failed: a"); process.exit(1)'),
    });
    expect(printed.lastIndexOf('These tests failed: a')).toBeGreaterThan(printed.indexOf('12 caught'));
  });

  it.each([
    [
      'lacks what the container tests need',
      { prepare: printing('The container tests were not run: no Go.', 69) },
    ],
    ['cannot prepare them', { prepare: printing('', 1) }],
  ])('on a machine that %s says so, and counts the others', async (_what, commands) => {
    const { counts, printed } = await run({ ...commands, containers: printing('0 passed, 1 failed', 1) });
    expect(counts).toEqual({ passed: 11, failed: 0 });
    expect(printed.match(/The container tests were not run: .+\./g)).toHaveLength(1);
  });

  it.each([
    ['container', { containers: endless }, { passed: 11, failed: 1 }],
    ['long', { long: endless }, { passed: 15, failed: 1 }],
  ])('ends %s tests that take too long, which fails', async (_what, commands, expected) => {
    const { counts, printed } = await run(commands, { step: 500 });
    expect(counts).toEqual(expected);
    expect(printed).toContain('took too long');
  });

  it('ends mutations that take too long, which fails', async () => {
    const { counts } = await run({ mutations: endless }, { mutations: 500 });
    expect(counts).toEqual({ passed: 17, failed: 1 });
  });

  it('leaves the container tests out if their preparation takes too long', async () => {
    const { counts, printed } = await run({ prepare: endless }, { prepare: 500 });
    expect(counts).toEqual({ passed: 11, failed: 0 });
    expect(printed).toMatch(/The container tests were not run: .+\./);
  });

  it('leaves out what follows the suite if that has taken most of the time, and says so', async () => {
    const { counts, printed } = await run({}, { all: 60_000 });
    expect(counts).toEqual({ passed: 5, failed: 0 });
    expect(printed).toMatch(
      /The container tests were not run: .+\.\nThe tests of the Python client were not run: .+\.\nThe long tests were not run: .+\.\nThe mutations were not run: .+\./,
    );
  });
});

describe('the shard that CI runs', () => {
  const at = (id: string) => () => id;

  it('is chosen by the commit, each as often, so that another run of it has the same', () => {
    const shards = Array.from({ length: 8 }, (_, n) => shardOf(at(`0000000${String(n)}ffffffff`), 8));
    expect(shards.toSorted()).toEqual(['1/8', '2/8', '3/8', '4/8', '5/8', '6/8', '7/8', '8/8']);
    expect(shardOf(at('00000003ffffffff'), 8)).toBe(shards[3]);
  });

  it('outside of a repository is the first', () => {
    expect(shardOf(() => undefined, 8)).toBe('1/8');
  });
});
