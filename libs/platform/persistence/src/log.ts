/** The part of a pino logger that this library needs. */
export interface DatabaseLog {
  debug(context: object, message: string): void;
  info(context: object, message: string): void;
  warn(context: object, message: string): void;
  error(context: object, message: string): void;
}
