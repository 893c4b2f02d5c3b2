import { jsonBody } from './body.js';
import type { Call } from './call.js';
import type { Execution } from './schemas.generated.js';
import { positiveOf } from './values.js';

/** Milliseconds that a request waits longer than its command may take. */
const MARGIN_MS = 30_000;

/** How a command runs. */
export interface CommandOptions {
  /**
   * Seconds that the command may take, by default 60. Raises the time-out of the request to 30 s more, unless that is
   * given.
   */
  readonly timeout?: number | null | undefined;
  /** Where it runs: absolute, or relative to the volume. */
  readonly cwd?: string | null | undefined;
  /** Variables beside those that programs there have. */
  readonly env?: Readonly<Record<string, string>> | null | undefined;
}

/** The result of a command. Of an agent with an older guest it has no id and no status, and all output in `stdout`. */
export interface CommandResult {
  readonly executionId?: string;
  readonly status?: Execution['status'];
  /** -1 if the command did not end by itself. */
  readonly exitCode: number;
  /** The last 262,144 characters. */
  readonly stdout: string;
  /** The last 262,144 characters. */
  readonly stderr: string;
}

/** The call that runs a command. */
export const commandCall = (
  path: string,
  command: string | readonly string[],
  { timeout, cwd, env }: CommandOptions = {},
): Call => {
  const words: readonly unknown[] = typeof command === 'string' ? [command] : command;
  if (
    !Array.isArray(words) ||
    words.length === 0 ||
    command === '' ||
    words.some((one) => typeof one !== 'string')
  )
    throw new TypeError('A command must be a string, or a list of strings, and not empty.');
  const seconds = positiveOf(timeout, 'timeout');
  return {
    method: 'POST',
    path,
    body: jsonBody({ command, timeout, cwd, env }),
    repeat: 'not_started',
    leastTimeout: seconds === undefined ? 0 : seconds * 1_000 + MARGIN_MS,
  };
};
