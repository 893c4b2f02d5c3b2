/**
 * Short messages between processes that share tables. Any of them may be lost, so a notice only ends a wait early that
 * would end without it too.
 */
export interface Notices {
  /** Whether notices arrive at the moment, as far as is known. */
  readonly connected: boolean;
  /** Sends without confirmation. */
  publish(topic: string, text: string): void;
  /**
   * Calls `heard` with the text of every notice on `topic`, including those of this process, and with null when some
   * may have been missed. Returns a function that ends this.
   */
  subscribe(topic: string, heard: (text: string | null) => void): () => void;
}

/** Notices of a process that knows no others. */
export const NO_NOTICES: Notices = {
  connected: false,
  publish: () => undefined,
  subscribe: () => () => undefined,
};
