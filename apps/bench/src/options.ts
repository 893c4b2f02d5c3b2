import { parseArgs } from 'node:util';
import { BenchError } from './bench-error.js';

export interface BenchOptions {
  /** Names of parts; empty means all. */
  readonly only: readonly string[];
  readonly quick: boolean;
  /** File to write the results to as JSON, in addition to the table. */
  readonly jsonFile: string | null;
  readonly help: boolean;
}

/** Throws `BenchError` when an argument or a part is unknown. */
export const readOptions = (args: readonly string[], partNames: readonly string[]): BenchOptions => {
  const { values } = parse(args);
  const only = (values.only ?? []).flatMap((names) => names.split(',')).filter((name) => name !== '');
  const unknown = only.filter((name) => !partNames.includes(name));
  if (unknown.length > 0)
    throw new BenchError(`There is no part ${unknown.join(', ')}. Parts: ${partNames.join(', ')}.`);
  return { only, quick: values.quick ?? false, jsonFile: values.json ?? null, help: values.help ?? false };
};

const parse = (args: readonly string[]) => {
  try {
    return parseArgs({
      args: [...args],
      options: {
        only: { type: 'string', multiple: true },
        quick: { type: 'boolean' },
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
    'npm run bench -- [--only part,part] [--quick] [--json file]',
    '',
    `  --only   of ${partNames.join(', ')}`,
    '  --quick  one short round of each, to check that it runs',
    '  --json   write the results to a file too',
  ].join('\n');
