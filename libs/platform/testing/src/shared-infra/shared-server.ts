/** A server that outlives its leases. */
export interface SharedServer {
  /** Creates empty storage on it: a separate database or log. */
  open(): Promise<{ readonly url: string; remove(): Promise<void> }>;
  stop(): Promise<void>;
}

/** What the holder does when a shared server ended before the run did. */
export type OnLoss = (message: string) => void;
