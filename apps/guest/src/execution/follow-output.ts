import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import type { ExecutionRecord, OutputLine } from '@berth/guest-protocol';
import type { StreamExchange } from '../server/stream-route.js';
import { inParts } from './last-characters.js';
import { OutputCursor } from './output-cursor.js';
import { RunningExecution } from './running-execution.js';

type Exchange = Pick<StreamExchange, 'response' | 'gone'>;

const STREAMS = ['stdout', 'stderr'] as const;
/** Maximum length of one line in UTF-16 units: readers buffer a whole line. */
const LINE_UNITS = 64 * 1024;

/** Streams an execution's output: the retained part, then new output, until the execution has ended. */
export const followOutput = async (
  execution: RunningExecution | ExecutionRecord,
  exchange: Exchange,
): Promise<void> => {
  const { response, gone } = exchange;
  response.writeHead(200, { 'content-type': 'application/x-ndjson' });
  response.flushHeaders();
  try {
    if (execution instanceof RunningExecution) await followRunning(execution, exchange);
    else for (const stream of STREAMS) await write(exchange, stream, execution[stream]);
  } catch (error) {
    if (gone.aborted) return;
    throw error;
  }
  response.end(encode({ stream: 'end' }));
};

const followRunning = async (execution: RunningExecution, exchange: Exchange): Promise<void> => {
  const followed = STREAMS.map((stream) => ({ stream, cursor: new OutputCursor(execution[stream]) }));
  let news = Promise.withResolvers<void>();
  const wake = (): void => news.resolve();
  const stopListening = execution.listen(wake);
  exchange.gone.addEventListener('abort', wake);
  try {
    for (let isOver = false; !isOver;) {
      // Check before reading, so that the output before the end is sent before the end.
      ({ isOver } = execution);
      news = Promise.withResolvers<void>();
      while (followed.some(({ cursor }) => cursor.behind)) {
        for (const { stream, cursor } of followed) await write(exchange, stream, cursor.next());
      }
      if (!isOver) await news.promise;
      exchange.gone.throwIfAborted();
    }
    for (const { stream, cursor } of followed) await write(exchange, stream, cursor.end());
  } finally {
    stopListening();
  }
};

/** Resolves when there is room for more. Throws if the client has disconnected. */
const write = async (
  { response, gone }: Exchange,
  stream: (typeof STREAMS)[number],
  text: string,
): Promise<void> => {
  for (const part of inParts(text, LINE_UNITS)) {
    gone.throwIfAborted();
    if (!response.write(encode({ stream, text: part }))) await roomIn(response, gone);
  }
};

const roomIn = async (response: ServerResponse, gone: AbortSignal): Promise<void> => {
  await once(response, 'drain', { signal: gone });
};

const encode = (line: OutputLine): string => `${JSON.stringify(line)}\n`;
