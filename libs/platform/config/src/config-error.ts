/** Exit code of a process whose configuration is invalid (`EX_CONFIG` of sysexits.h). */
export const EXIT_CONFIG = 78;

/** Names every missing or invalid variable and what it must be, on one line; never contains a value. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';

  constructor(
    readonly problems: readonly string[],
    options: ErrorOptions = {},
  ) {
    super(`Bad configuration: ${problems.join('; ')}.`, options);
  }
}
