import type { ChildProcess, StdioOptions } from 'node:child_process';
import { closeSync } from 'node:fs';
import type { Readable } from 'node:stream';
import { killBeforeGuest } from '../oom-score.js';
import type { OutputPipes } from './output-pipes.js';

/** A child and its output. A listener that is added synchronously misses nothing. */
export interface CapturedChild {
  readonly child: ChildProcess;
  readonly stdout: Readable | null;
  /** null if stderr is merged into stdout. */
  readonly stderr: Readable | null;
}

/**
 * Starts a child without input that may reopen its output by name. If no pipes are available, it gets sockets, which
 * cannot be reopened. With `merged`, both streams share one pipe, but sockets stay separate. Rethrows the errors of
 * `start`.
 */
export const startCaptured = (
  pipes: OutputPipes,
  merged: boolean,
  start: (stdio: StdioOptions) => ChildProcess,
): CapturedChild => {
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
    // From here on only the children keep the pipes open; without a child they end at once.
    for (const pipe of [out, err]) if (pipe !== undefined) closeSync(pipe.writeEnd);
  }
};
