import type { Readable } from 'node:stream';
import type { LocalTerminal } from './console/console-session.js';

/** Where a command writes: results to `out`, messages for the reader to `err`. */
export interface Terminal {
  readonly out: Sink & { readonly isTTY?: boolean };
  readonly err: Sink & { readonly isTTY?: boolean; readonly columns?: number };
  /** Standard input, for a command that reads it. */
  readonly input?: Readable;
  /** Set if both standard input and standard output are a terminal. */
  readonly interactive?: LocalTerminal;
}

interface Sink {
  write(text: string | Uint8Array): unknown;
}
