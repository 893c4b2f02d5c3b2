import type { Logger } from '@berth/telemetry';
import type { LoggerService } from '@nestjs/common';

/** The context in which Nest logs the error of a failed start. */
const START_FAILURES = 'ExceptionHandler';

/** Sends Nest's log lines to the service's logger, those of the start at level debug. */
export class NestLogger implements LoggerService {
  constructor(private readonly target: Logger) {}

  log(message: unknown, ...rest: unknown[]): void {
    this.target.debug({ nest: rest.at(-1) }, String(message));
  }
  debug(message: unknown): void {
    this.target.debug(String(message));
  }
  verbose(message: unknown): void {
    this.target.trace(String(message));
  }
  warn(message: unknown): void {
    this.target.warn(String(message));
  }
  error(message: unknown, ...rest: unknown[]): void {
    // Nest rethrows the error of a failed start, and its caller reports it; logging it here would report it twice.
    if (rest.at(-1) === START_FAILURES) this.target.debug({ err: message }, 'the service could not start');
    else if (message instanceof Error) this.target.error({ err: message }, message.message);
    else this.target.error({ nest: rest.at(-1) }, String(message));
  }
  fatal(message: unknown): void {
    this.target.fatal(String(message));
  }
}
