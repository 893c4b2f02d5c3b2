import { spawn } from 'node:child_process';
import { BenchError } from '../bench-error.js';
import { findExecutable } from './executables.js';

/** A command line tool: its path, the arguments that every call begins with, and its environment. */
export interface CommandLine {
  readonly command: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
}

/** Runs the tool to completion. Throws `BenchError` with its output when the exit code is not 0. */
export const run = ({ command, args: before, env }: CommandLine, ...args: readonly string[]): Promise<void> =>
  new Promise((resolve, reject) => {
    const child = spawn(command, [...before, ...args], { env, stdio: ['ignore', 'ignore', 'pipe'] });
    let output = '';
    child.stderr.on('data', (chunk: Buffer) => (output = (output + chunk.toString('utf8')).slice(-2_000)));
    const fail = (how: string): void =>
      reject(new BenchError(`"${[command, ...before, ...args].join(' ')}" ${how}. ${output.trim()}`.trim()));
    child.once('error', (error) => fail(`could not be started: ${error.message}`));
    child.once('close', (code, signal) => {
      if (code === 0) resolve();
      else fail(`ended with ${code === null ? String(signal) : `code ${code}`}`);
    });
  });

/** The same tool, but the kernel sends it SIGTERM when this process dies for any reason, if `setpriv` is available. */
export const endingWithParent = (tool: CommandLine, folders: readonly string[]): CommandLine => {
  const setpriv = findExecutable('setpriv', folders);
  if (setpriv === undefined) return tool;
  return { ...tool, command: setpriv, args: ['--pdeathsig', 'TERM', tool.command, ...tool.args] };
};
