import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { commandsBelow, readPage } from './page-commands.fixture.js';

export const REAL_PAGE = readPage('run-berth-for-real.md');

/** Which test runs the commands below which headings of docs/run-berth-for-real.md, in this order. */
export const PARTS = {
  services: ['1. Start the services', '2. Add a host for agents', '5. Back up the services'],
  host: ['3. Run the host', '4. Deploy a repository', '6. Back up the agents'],
} as const;

/** The commands of the page below a heading, with each text of `instead` replaced. */
export const commandsOf = (heading: string, instead: Readonly<Record<string, string>>): string =>
  commandsBelow(REAL_PAGE, heading, instead);

/**
 * Writes programs that take the place of those that need what a test cannot reach. `scripts` are in `sh`, by name; each
 * call is a line of the file `calls`. Returns nothing: put the folder first on the PATH.
 */
export const writeStandIns = (
  folder: string,
  at: string,
  scripts: Readonly<Record<string, string>>,
): void => {
  mkdirSync(folder, { recursive: true });
  for (const [name, script] of Object.entries(scripts)) {
    const file = join(folder, name);
    writeFileSync(file, `#!/bin/sh\nset -eu\necho "${name} $*" >> ${at}/calls\n${script}\n`);
    chmodSync(file, 0o755);
  }
};
