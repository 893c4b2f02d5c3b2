import { createInterface } from 'node:readline/promises';
import { CliError, EXIT } from './cli-error.js';
import type { Terminal } from './terminal.js';

/** Asks on a terminal, and resolves only if the answer is yes; elsewhere `--yes` must have been given. */
export const confirm = async (
  question: string,
  { yes }: { readonly yes?: true },
  { interactive }: Terminal,
): Promise<void> => {
  if (yes === true) return;
  if (interactive === undefined)
    throw new CliError(EXIT.usage, 'Give --yes: there is no terminal to ask on.');
  const asking = createInterface({ input: interactive.input, output: interactive.output });
  try {
    const answer = await asking.question(`${question} [y/N] `);
    if (!/^y(es)?$/i.test(answer.trim())) throw new CliError(EXIT.refused, 'Nothing was done.');
  } finally {
    asking.close();
  }
};
