import { EXIT_UNSUITABLE_HOST } from '@berth/config';

/** Exit codes. `berth --help` documents them, so scripts can rely on them. */
export const EXIT = {
  ok: 0,
  /** The service refused the request, or the operation failed. */
  refused: 1,
  /** The command line or the environment is invalid; no request was sent. */
  usage: 2,
  /** The service is unreachable or cannot serve requests right now. A retry may help. */
  unavailable: 3,
  /** This machine lacks something that Berth needs. */
  unsuitableHost: EXIT_UNSUITABLE_HOST,
} as const;

export type ExitCode = (typeof EXIT)[keyof typeof EXIT];

/** Ends the command and prints `message` without a stack. */
export class CliError extends Error {
  override readonly name = 'CliError';

  constructor(
    readonly exitCode: ExitCode,
    message: string,
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}
