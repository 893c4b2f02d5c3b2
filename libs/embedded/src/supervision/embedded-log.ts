/** What the embedded parts report through; a pino logger fits. */
export interface EmbeddedLog {
  info(context: object, message: string): void;
  warn(context: object, message: string): void;
  error(context: object, message: string): void;
}
