/** The part of pino's logger interface that this library uses. */
export interface DatabaseLog {
  debug(context: object, message: string): void;
  info(context: object, message: string): void;
  warn(context: object, message: string): void;
  error(context: object, message: string): void;
}
