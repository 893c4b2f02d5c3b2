/** What starting a service returns. */
export interface Stoppable {
  readonly name: string;
  /** Stops accepting calls, and resolves when those in flight have ended, after `withinMs` at the latest. */
  drain?(withinMs: number): Promise<void>;
  stop(): Promise<void>;
}
