/** What the exit code says. Shown by `berth --help`, so that scripts can rely on it. */
export const EXIT = {
  ok: 0,
  /** The service said no, or what was asked for did not work out. */
  refused: 1,
  /** The command line or the environment is wrong; nothing was sent. */
  usage: 2,
  /** The service could not be reached, or not serve right now. Trying again may help. */
  unavailable: 3,
} as const;

export type ExitCode = (typeof EXIT)[keyof typeof EXIT];

/** Ends the command with a message for people, without a stack. */
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
