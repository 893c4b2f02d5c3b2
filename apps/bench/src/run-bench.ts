import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createLogger } from '@berth/telemetry';
import { BenchContext, FULL, QUICK } from './context.js';
import type { BenchOptions } from './options.js';
import { chosenParts } from './parts/all-parts.js';
import type { Section } from './parts/part.js';
import { ROOT } from './paths.js';
import type { Environment } from './programs/child-environment.js';
import { renderMachine, renderSection, thisMachine } from './report.js';

/** Runs the parts one after the other and prints each result immediately. Stops at the first part that cannot run. */
export const runBench = async (
  options: BenchOptions,
  env: Environment,
  print: (text: string) => void,
): Promise<void> => {
  const begun = performance.now();
  const machine = thisMachine();
  print(`Berth bench on ${renderMachine(machine)}`);
  // Inside the checkout and not in a temporary folder, which may be in memory: here a flush reaches the disk.
  mkdirSync(join(ROOT, '.berth'), { recursive: true });
  const folder = mkdtempSync(join(ROOT, '.berth', 'bench-'));
  const remove = (): void => rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
  process.once('exit', remove);
  const effort = options.quick ? QUICK : FULL;
  const context = new BenchContext(
    effort,
    folder,
    env,
    createLogger({ service: 'bench', level: 'error' }),
    options.scale,
  );
  const results: { part: string; sections: readonly Section[] }[] = [];
  try {
    for (const part of chosenParts(options)) {
      const sections = await part.run(context);
      await context.removeAgents();
      for (const section of sections) print(renderSection(section));
      results.push({ part: part.name, sections });
    }
  } finally {
    await context.stop();
  }
  if (options.jsonFile !== null) {
    writeFileSync(
      options.jsonFile,
      `${JSON.stringify({ machine, at: new Date().toISOString(), effort, results }, null, 2)}\n`,
    );
  }
  print(
    `\nMeasured in ${Math.round((performance.now() - begun) / 1000)} s, up to ${effort.rounds} rounds each; the table shows the median round.`,
  );
};
