import type { Logger } from '@berth/telemetry';
import type { LoggerService } from '@nestjs/common';

/** Nest's own lines as the gateway's; its chatter at start as debug. */
export const nestLog = (log: Logger): LoggerService => ({
  log: (message: unknown) => log.debug(String(message)),
  debug: (message: unknown) => log.debug(String(message)),
  verbose: (message: unknown) => log.trace(String(message)),
  warn: (message: unknown) => log.warn(String(message)),
  error: (message: unknown) => log.error(message instanceof Error ? { err: message } : {}, String(message)),
  fatal: (message: unknown) => log.fatal(String(message)),
});
