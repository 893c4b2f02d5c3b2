import 'reflect-metadata';
import { BenchError } from './bench-error.js';
import { readOptions, usage } from './options.js';
import { PARTS } from './parts/all-parts.js';
import { stopPrograms } from './programs/child-program.js';
import { runBench } from './run-bench.js';

const print = (text: string): void => void process.stdout.write(`${text}\n`);

const main = async (): Promise<void> => {
  const names = PARTS.map(({ name }) => name);
  const options = readOptions(process.argv.slice(2), names);
  if (options.help) print(usage(names));
  else await runBench(options, process.env, print);
};

for (const [signal, code] of [
  ['SIGINT', 130],
  ['SIGTERM', 143],
] as const) {
  process.once(signal, () => void stopPrograms().finally(() => process.exit(code)));
}

try {
  await main();
} catch (error) {
  const text =
    error instanceof BenchError
      ? error.message
      : error instanceof Error
        ? (error.stack ?? error.message)
        : String(error);
  process.stderr.write(`\nThe bench cannot run: ${text}\n`);
  process.exitCode = 1;
}
