/** Exit code of a process whose configuration is wrong (`EX_CONFIG` of sysexits.h). */
export const EXIT_CONFIG = 78;

/** Names every variable that is missing or bad, and what it must be; never its value. One line is all there is to say. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';

  constructor(
    readonly problems: readonly string[],
    options: ErrorOptions = {},
  ) {
    super(`Bad configuration: ${problems.join('; ')}.`, options);
  }
}
