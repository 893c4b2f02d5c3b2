import type { ChildProcess, StdioOptions } from 'node:child_process';
import { closeSync } from 'node:fs';
import type { Readable } from 'node:stream';
import { killBeforeGuest } from '../oom-score.js';
import type { OutputPipes } from './output-pipes.js';

/** A child and what it prints. A listener that is added at once misses nothing. */
export interface HeardChild {
  readonly child: ChildProcess;
  readonly stdout: Readable | null;
  /** null when it comes with stdout. */
  readonly stderr: Readable | null;
}

/**
 * Starts a child that reads nothing and may open its output again by name. Where there are no pipes for it, it gets
 * sockets, which cannot be opened again. `merged` gives it one pipe for both streams, but still two sockets.
 * Throws what `start` throws.
 */
export const startHeard = (
  pipes: OutputPipes,
  merged: boolean,
  start: (stdio: StdioOptions) => ChildProcess,
): HeardChild => {
  const out = pipes.take();
  const err = merged ? undefined : pipes.take();
  const isOne = merged && out !== undefined;
  try {
    const stdout = out?.writeEnd ?? 'pipe';
    const child = start(['ignore', stdout, isOne ? stdout : (err?.writeEnd ?? 'pipe')]);
    killBeforeGuest(child.pid);
    return {
      child,
      stdout: out?.readable ?? child.stdout,
      stderr: isOne ? null : (err?.readable ?? child.stderr),
    };
  } finally {
    // From here on the children alone keep them open; without any they end at once.
    for (const pipe of [out, err]) if (pipe !== undefined) closeSync(pipe.writeEnd);
  }
};
