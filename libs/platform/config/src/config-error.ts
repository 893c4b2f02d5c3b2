/** Names every variable that is missing or bad, and what it must be; never its value. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';

  constructor(readonly problems: readonly string[]) {
    super(`Bad configuration: ${problems.join('; ')}.`);
  }
}
