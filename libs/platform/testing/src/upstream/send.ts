import type { ServerResponse } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import type { Behaviour, Pause, StreamPart } from './behaviour.js';

export const wait = async (pause: Pause | undefined): Promise<void> => {
  if (typeof pause === 'number') await delay(pause);
  else await pause;
};

/** Sends a JSON body, or half of it if the connection is to break. */
export const sendJson = (
  response: ServerResponse,
  status: number,
  headers: Readonly<Record<string, string>>,
  body: object,
  { breaksOffAfter }: Behaviour = {},
): void => {
  if (breaksOffAfter === 0) return void response.destroy();
  const bytes = Buffer.from(JSON.stringify(body));
  response.writeHead(status, {
    'content-type': 'application/json',
    'content-length': bytes.length,
    ...headers,
  });
  if (breaksOffAfter === undefined) return void response.end(bytes);
  response.write(bytes.subarray(0, bytes.length / 2), () => response.destroy());
};

/** Sends server-sent events until the end, the fault or the client's hang-up. */
export const sendStream = async (
  response: ServerResponse,
  headers: Readonly<Record<string, string>>,
  parts: Iterable<StreamPart>,
  { breaksOffAfter, betweenChunks, pauseAfter }: Behaviour,
): Promise<void> => {
  if (breaksOffAfter === 0) return void response.destroy();
  response.writeHead(200, {
    'content-type': 'text/event-stream; charset=utf-8',
    'cache-control': 'no-cache',
    ...headers,
  });
  response.flushHeaders();
  let sent = 0;
  for (const part of parts) {
    if (response.destroyed) return;
    const isFlushed = response.write(lineOf(part));
    sent += 1;
    if (sent === breaksOffAfter) return void setImmediate(() => response.destroy());
    if (!isFlushed) await drained(response);
    await wait(betweenChunks);
    if (sent === pauseAfter?.chunks) await wait(pauseAfter.pause);
  }
  response.end();
};

const lineOf = ({ event, data }: StreamPart): string =>
  `${event === undefined ? '' : `event: ${event}\n`}data: ${data === '[DONE]' ? data : JSON.stringify(data)}\n\n`;

/** Also when the client has hung up. */
const drained = (response: ServerResponse): Promise<void> =>
  new Promise((resolve) => {
    const done = (): void => {
      response.off('drain', done).off('close', done);
      resolve();
    };
    response.on('drain', done).on('close', done);
  });
