import { readFile } from 'node:fs/promises';
import { DESKTOP_EXTRAS, findProgram, missingDesktopPackages } from '@berth/host-requirements';
import { CliError, EXIT } from '../cli-error.js';
import { runProgram } from '../doctor/run-program.js';
import type { Terminal } from '../terminal.js';
import { runShown } from './run-shown.js';
import { installEach, planDesktopSetup, systemsIn, type DesktopMachine } from './desktop-setup.plan.js';

/** Installs the software of desktops that this machine lacks, or says who can. */
export const setUpDesktops = async (path: string, { err }: Terminal): Promise<void> => {
  const machine = await examine(path);
  const step = planDesktopSetup(machine);
  if (step === undefined) {
    err.write('This machine has the software of desktops.\n');
    return;
  }
  if (step.kind === 'tell') throw new CliError(EXIT.unsuitableHost, step.text);
  const run = async (command: readonly string[]): Promise<boolean> => {
    err.write(`+ ${command.join(' ')}\n`);
    return runShown(command, { PATH: path, DEBIAN_FRONTEND: 'noninteractive' });
  };
  let succeeded = true;
  for (const command of step.commands) succeeded = await run(command);
  // The index may be stale and the packages still there: only what is missing afterwards counts.
  if (!succeeded) for (const command of installEach(machine.missing)) await run(command);
  const { missing } = await examine(path);
  if (missing.length > 0)
    throw new CliError(EXIT.unsuitableHost, `Not installed: ${missing.join(', ')}.${browserHint(missing)}`);
  err.write('This machine has the software of desktops. A Berth that runs here notices within a minute.\n');
};

/** Ubuntu has its browser as a snap only, which does not start on a desktop of another user. */
const browserHint = (missing: readonly string[]): string =>
  missing.includes('chromium')
    ? " Any of chromium, chromium-browser and google-chrome serves, for example Google's own package."
    : '';

const examine = async (path: string): Promise<DesktopMachine> => {
  const osRelease = await readFile('/etc/os-release', 'utf8').catch(() => '');
  const hasAptGet = findProgram('apt-get', path) !== undefined;
  return {
    missing: [...missingDesktopPackages(path), ...(hasAptGet ? await notInstalled(DESKTOP_EXTRAS) : [])],
    systems: systemsIn(osRelease),
    hasAptGet,
    isRoot: process.getuid?.() === 0,
  };
};

/** Those that dpkg does not have. */
const notInstalled = async (names: readonly string[]): Promise<readonly string[]> => {
  const { output } = await runProgram('dpkg-query', ['-W', '-f=${Package} ${db:Status-Status}\\n', ...names]);
  const installed = new Set(output.split('\n').flatMap((line) => /^(\S+) installed$/.exec(line)?.[1] ?? []));
  return names.filter((name) => !installed.has(name));
};
