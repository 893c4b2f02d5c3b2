import type { IncomingMessage } from 'node:http';
import type { Operation } from '../dialect/operation.js';
import { headersForCaller } from '../dialect/passed-headers.js';
import { isUsageChunk, NO_FACTS, readEvent, tellsNothing } from '../usage/stream-usage.js';
import { eventsIn, SseSplitter } from '../usage/sse-events.js';
import { FAILED, outcomeOfBody, outcomeOfStream, type CallOutcome } from './call-outcome.js';
import type { CallerResponse } from './caller-response.js';

/** Longer bodies are passed on, but not read for their usage. */
const MOST_READ = 64 * 1_024 * 1_024;

export interface Passing {
  readonly operation: Operation;
  /** Whether the chunk that only reports the usage is kept from the caller. */
  readonly hidesUsage: boolean;
}

/** The outcome of passing a response on. */
export interface Passed {
  readonly outcome: CallOutcome;
  /** Whether all of it has arrived. */
  readonly isComplete: boolean;
}

/** Passes a response on as it arrives, without its end. */
export const passResponse = async (
  from: IncomingMessage,
  to: CallerResponse,
  passing: Passing,
): Promise<Passed> => {
  const status = from.statusCode ?? 502;
  to.begin(status, headersForCaller(from.headers));
  if (status >= 400) {
    const { isComplete } = await passBytes(from, to);
    return { outcome: FAILED, isComplete };
  }
  if (/^text\/event-stream\b/i.test(from.headers['content-type'] ?? '')) return passEvents(from, to, passing);
  const { text, isComplete } = await passBytes(from, to);
  return { outcome: outcomeOfBody(isComplete ? text : undefined, passing.operation), isComplete };
};

const passBytes = async (
  from: IncomingMessage,
  to: CallerResponse,
): Promise<{ readonly text: string | undefined; readonly isComplete: boolean }> => {
  const chunks: Buffer[] = [];
  let bytes = 0;
  const isComplete = await eachChunk(from, async (chunk) => {
    bytes += chunk.length;
    if (bytes <= MOST_READ) chunks.push(chunk);
    await to.write(chunk);
  });
  return { text: bytes > MOST_READ ? undefined : Buffer.concat(chunks).toString('utf8'), isComplete };
};

const passEvents = async (
  from: IncomingMessage,
  to: CallerResponse,
  { operation, hidesUsage }: Passing,
): Promise<Passed> => {
  const splitter = new SseSplitter();
  let facts = NO_FACTS;
  const pass = async (piece: Buffer): Promise<void> => {
    if (tellsNothing(facts, piece)) return to.write(piece);
    let shown = 0;
    let at = 0;
    for (const { raw, data } of eventsIn(piece)) {
      facts = readEvent(facts, data, operation);
      if (hidesUsage && isUsageChunk(data)) {
        await to.write(piece.subarray(shown, at));
        shown = at + raw.length;
      }
      at += raw.length;
    }
    await to.write(piece.subarray(shown));
  };
  const isComplete = await eachChunk(from, async (chunk) => pass(splitter.push(chunk)));
  await pass(splitter.rest());
  return { outcome: outcomeOfStream(facts, isComplete), isComplete };
};

/** Returns whether the response arrived whole. */
const eachChunk = async (from: IncomingMessage, take: (chunk: Buffer) => Promise<void>): Promise<boolean> => {
  try {
    for await (const chunk of from as AsyncIterable<Buffer>) await take(chunk);
    return from.complete;
  } catch {
    return false;
  }
};
