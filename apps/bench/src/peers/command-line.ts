import { spawn } from 'node:child_process';
import { BenchError } from '../bench-error.js';
import { findExecutable } from './executables.js';

/** A command line tool: where it is, what stands before every call's own arguments, and its environment. */
export interface CommandLine {
  readonly command: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
}

/** One start of the tool, until it ends. Throws `BenchError` with what it said when that is not with code 0. */
export const run = ({ command, args: before, env }: CommandLine, ...args: readonly string[]): Promise<void> =>
  new Promise((resolve, reject) => {
    const child = spawn(command, [...before, ...args], { env, stdio: ['ignore', 'ignore', 'pipe'] });
    let said = '';
    child.stderr.on('data', (chunk: Buffer) => (said = (said + chunk.toString('utf8')).slice(-2_000)));
    const fail = (how: string): void =>
      reject(new BenchError(`"${[command, ...before, ...args].join(' ')}" ${how}. ${said.trim()}`.trim()));
    child.once('error', (error) => fail(`could not be started: ${error.message}`));
    child.once('close', (code, signal) => {
      if (code === 0) resolve();
      else fail(`ended with ${code === null ? String(signal) : `code ${code}`}`);
    });
  });

/** The same tool, but asked to end by the system when this process dies, however that happens; where that can be had. */
export const endingWithUs = (tool: CommandLine, folders: readonly string[]): CommandLine => {
  const setpriv = findExecutable('setpriv', folders);
  if (setpriv === undefined) return tool;
  return { ...tool, command: setpriv, args: ['--pdeathsig', 'TERM', tool.command, ...tool.args] };
};
