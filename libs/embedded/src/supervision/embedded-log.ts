/** The log of the embedded parts; a pino logger satisfies it. */
export interface EmbeddedLog {
  info(context: object, message: string): void;
  warn(context: object, message: string): void;
  error(context: object, message: string): void;
}
