import { parseArgs } from 'node:util';
import { BenchError } from './bench-error.js';

export interface BenchOptions {
  /** Names of parts; empty means all. */
  readonly only: readonly string[];
  readonly quick: boolean;
  /** File to write the results to as JSON, in addition to the table. */
  readonly jsonFile: string | null;
  /** Whether to measure agents in containers. */
  readonly containers: boolean;
  readonly scale: Scale;
  readonly help: boolean;
}

/** The agents of the parts that measure many. */
export interface Scale {
  readonly agents: number;
  readonly awake: number;
}

/** Throws `BenchError` when an argument or a part is unknown. */
export const readOptions = (args: readonly string[], partNames: readonly string[]): BenchOptions => {
  const { values } = parse(args);
  const only = (values.only ?? []).flatMap((names) => names.split(',')).filter((name) => name !== '');
  const unknown = only.filter((name) => !partNames.includes(name));
  if (unknown.length > 0)
    throw new BenchError(`There is no part ${unknown.join(', ')}. Parts: ${partNames.join(', ')}.`);
  const scale = {
    agents: count('agents', values.agents ?? '40'),
    awake: count('awake', values.awake ?? '5'),
  };
  if (scale.awake > scale.agents) throw new BenchError('--awake is at most --agents.');
  const { quick = false, containers = false, help = false, json = null } = values;
  return { only, quick, containers, scale, jsonFile: json, help };
};

const count = (name: string, text: string): number => {
  const value = Number(text);
  if (Number.isSafeInteger(value) && value > 0) return value;
  throw new BenchError(`--${name} is a whole number above 0.`);
};

const parse = (args: readonly string[]) => {
  try {
    return parseArgs({
      args: [...args],
      options: {
        only: { type: 'string', multiple: true },
        quick: { type: 'boolean' },
        containers: { type: 'boolean' },
        agents: { type: 'string' },
        awake: { type: 'string' },
        json: { type: 'string' },
        help: { type: 'boolean', short: 'h' },
      },
    });
  } catch (error) {
    throw new BenchError(error instanceof Error ? error.message : String(error), { cause: error });
  }
};

export const usage = (partNames: readonly string[]): string =>
  [
    'npm run bench -- [--only part,part] [--quick] [--json file] [--containers [--agents n] [--awake n]]',
    '',
    `  --only   of ${partNames.join(', ')}`,
    '  --quick  one short round of each, to check that it runs',
    '  --json   write the results to a file too',
    '  --containers  measure agents in containers instead; needs root',
    '  --agents, --awake  how many agents the parts of many agents have (40), and how many of them are awake (5)',
  ].join('\n');
