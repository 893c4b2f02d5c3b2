import { spawn } from 'node:child_process';
import { BenchError } from '../bench-error.js';

/** The minimum cost of running a command in Node: a shell, until it has ended and its streams are closed. */
export const spawnShell = (command: string): Promise<void> =>
  new Promise((resolve, reject) => {
    const child = spawn('/bin/sh', ['-c', command], { stdio: ['ignore', 'pipe', 'pipe'] });
    child.stdout.resume();
    child.stderr.resume();
    child.once('error', reject);
    child.once('close', (code) => {
      if (code === 0) resolve();
      else reject(new BenchError(`A shell with "${command}" ended with ${String(code)}.`));
    });
  });
