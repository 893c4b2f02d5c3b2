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
  /** A command in a computer did not end in its time. */
  timedOut: 124,
  /** A command in a computer: whatever is not its own exit code. */
  notTheCommands: 125,
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

/** Ends `computers exec` with the exit code of the command, without a message. */
export class CommandEnded extends Error {
  override readonly name = 'CommandEnded';

  constructor(readonly code: number) {
    super(`The command ended with exit code ${code}.`);
  }
}
