import { describe, expect, it } from 'vitest';
import { BenchError } from './bench-error.js';
import { readOptions } from './options.js';

const PARTS = ['nats', 'append', 'rebuild'];

describe('the options of the bench', () => {
  it('name the parts, separated by commas or in repeated options', () => {
    expect(readOptions(['--only', 'nats,append', '--only', 'rebuild'], PARTS).only).toEqual([
      'nats',
      'append',
      'rebuild',
    ]);
    expect(readOptions([], PARTS)).toEqual({
      only: [],
      quick: false,
      containers: false,
      scale: { agents: 40, awake: 5 },
      jsonFile: null,
      help: false,
    });
  });

  it('refuse a part that does not exist, and list those that do', () => {
    expect(() => readOptions(['--only', 'nats,nots'], PARTS)).toThrow(
      new BenchError('There is no part nots. Parts: nats, append, rebuild.'),
    );
  });

  it('scale the parts of many agents, of which no more are awake than there are', () => {
    const options = ['--containers', '--agents', '1000', '--awake', '50'];
    expect(readOptions(options, PARTS)).toMatchObject({
      containers: true,
      scale: { agents: 1_000, awake: 50 },
    });
    expect(() => readOptions(['--agents', '10', '--awake', '11'], PARTS)).toThrow(BenchError);
  });

  it.each([['--fast'], ['--json'], ['nats'], ['--agents', 'many'], ['--awake', '0']])(
    'refuse %s instead of ignoring it',
    (...args) => {
      expect(() => readOptions(args, PARTS)).toThrow(BenchError);
    },
  );
});
