/** Where a command writes: results to `out`, messages for the reader to `err`. */
export interface Terminal {
  readonly out: Sink;
  readonly err: Sink & { readonly isTTY?: boolean; readonly columns?: number };
}

interface Sink {
  write(text: string): unknown;
}
