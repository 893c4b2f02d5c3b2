/** Tokens as a provider counts them. `cached` and `cacheWrites` are parts of `input`, `reasoning` is a part of `output`. */
export interface TokenCounts {
  readonly input: number;
  readonly cached: number;
  readonly cacheWrites: number;
  readonly output: number;
  readonly reasoning: number;
}

/** The model's output in one response: a text, calls of tools, or both. */
export interface Turn {
  readonly text?: string;
  readonly toolCalls?: readonly { readonly name: string; readonly arguments: object }[];
}

/** Milliseconds, or until the promise settles. */
export type Pause = number | Promise<unknown>;

/** How the upstream responds to the requests for one model. Every member is optional and most can be combined. */
export interface Behaviour {
  /** The first turn responds to the user, the next ones to the results of tools; the last one repeats. */
  readonly turns?: readonly Turn[];
  /** Length of the text in tokens, in place of `turns`. */
  readonly textTokens?: number;
  /** Reported in place of what was counted, even beyond the limit of the request; or not reported at all. */
  readonly usage?: Partial<TokenCounts> | 'omitted';
  readonly beforeHeaders?: Pause;
  /** Between the parts of a stream. */
  readonly betweenChunks?: Pause;
  /** Once, after so many parts of a stream. */
  readonly pauseAfter?: { readonly chunks: number; readonly pause: Pause };
  /** Closes the connection after so many parts of a stream, or within the JSON; 0: before the headers. */
  readonly breaksOffAfter?: number;
  /** An error of the provider, in the shape of its dialect. */
  readonly status?: number;
  /** `body`: 200 with an error as its body or only event; `stream`: an error after the first part of a stream. */
  readonly errorIn200?: 'body' | 'stream';
  /** Responds with 307 to this address. */
  readonly redirectTo?: string;
  /** Added to those of the dialect. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Never responds, and keeps the connection. */
  readonly hangs?: boolean;
}

/** One request as it arrived. */
export interface ReceivedRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  readonly body: Readonly<Record<string, unknown>>;
  /** Whether the client closed the connection before the end of the response. */
  hungUp: boolean;
}

export type Dialect = 'openai' | 'anthropic';

/** One server-sent event. */
export interface StreamPart {
  readonly event?: string;
  readonly data: object | '[DONE]';
}
