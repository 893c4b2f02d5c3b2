/** What starting a service returns. */
export interface Stoppable {
  readonly name: string;
  stop(): Promise<void>;
}
