import { spawn } from 'node:child_process';
import { findProgram } from '@berth/host-requirements';

/** Runs a program, which prints to standard error. Resolves with whether it succeeded. */
export const runShown = (
  [command = '', ...args]: readonly string[],
  env: Readonly<Record<string, string>> & { readonly PATH: string },
): Promise<boolean> =>
  new Promise((resolve) => {
    const child = spawn(findProgram(command, env.PATH) ?? command, args, {
      env: { ...process.env, ...env },
      stdio: ['ignore', 2, 2],
    });
    child.once('error', () => resolve(false));
    child.once('close', (code) => resolve(code === 0));
  });
