/** A server that outlives its leases. */
export interface SharedServer {
  /** Creates empty storage on it: a separate database or log. */
  open(): Promise<{ readonly url: string; remove(): Promise<void> }>;
  stop(): Promise<void>;
}

/** Called when a shared server ends before the test run does. */
export type OnLoss = (message: string) => void;
