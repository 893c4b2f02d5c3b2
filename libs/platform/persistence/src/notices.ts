/**
 * Short messages between processes that share tables. Any of them may be lost, so a notice only shortens a wait that
 * would also end without it.
 */
export interface Notices {
  /** Whether notices arrive at the moment, as far as this process knows. */
  readonly connected: boolean;
  /** Sends without confirmation. */
  publish(topic: string, text: string): void;
  /**
   * Calls `heard` with the text of every notice on `topic`, including those of this process, and with null when some
   * may have been missed. Returns a function that ends the subscription.
   */
  subscribe(topic: string, heard: (text: string | null) => void): () => void;
}

/** For a process without connection to others: sends and receives nothing. */
export const NO_NOTICES: Notices = {
  connected: false,
  publish: () => undefined,
  subscribe: () => () => undefined,
};
