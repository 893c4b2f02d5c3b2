import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const PAGE = new URL('../../../../docs/run-berth-for-real.md', import.meta.url);

/** Which test runs the commands below which headings of docs/run-berth-for-real.md, in this order. */
export const PARTS = {
  services: ['1. Start the services', '2. Add a host for agents', '5. Back up the services'],
  host: ['3. Run the host', '4. Deploy a repository', '6. Back up the agents'],
} as const;

/** The commands of the page, as one script by the heading that they are below. Throws if a block is not `sh`. */
export const commandsOfPage = (text: string = readFileSync(PAGE, 'utf8')): ReadonlyMap<string, string> => {
  const scripts = new Map<string, string>();
  let heading = '';
  for (const [, title, language, block = ''] of text.matchAll(/^## (.+)$|^```(\S*)\n([\s\S]*?)^```$/gm)) {
    if (title !== undefined) heading = title;
    else if (language !== 'sh') throw new Error(`A block below "${heading}" is not sh.`);
    else scripts.set(heading, `${scripts.get(heading) ?? ''}${block}`);
  }
  return scripts;
};

/** The commands below a heading, with each text of `instead` replaced. Throws if one of them has no commands. */
export const commandsBelow = (heading: string, instead: Readonly<Record<string, string>>): string => {
  const commands = commandsOfPage().get(heading);
  if (commands === undefined) throw new Error(`There are no commands below "${heading}".`);
  return Object.entries(instead).reduce((text, [written, used]) => text.replaceAll(written, used), commands);
};

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
