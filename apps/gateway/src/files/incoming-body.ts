import type { IncomingMessage } from 'node:http';
import { grantContinue } from '../http/expectations.js';
import { HttpRefusal, invalidRequest } from '../http/http-refusal.js';

/** A client that sends nothing for this long while the gateway reads is disconnected. */
const IDLE_MS = 30_000;

export interface BodyReader {
  /** Receives a chunk. If it returns a promise, the next chunk waits for it. */
  onChunk(this: void, chunk: Buffer): Promise<void> | undefined;
  /** Ends the reading when it rejects. */
  readonly failed: Promise<never>;
  /** In milliseconds; default 30 s. */
  readonly idleMs?: number;
}

/**
 * Reads a body to its end, at the pace of the reader. Rejects with the error that the reader throws, with 408
 * `request_timeout` if the client stops sending, and with 400 if it disconnects. The rest then stays unread.
 */
export const readIncoming = (
  raw: IncomingMessage,
  { onChunk, failed, idleMs = IDLE_MS }: BodyReader,
): Promise<void> =>
  new Promise((resolve, reject) => {
    let waiting = false;
    let over = false;
    const idle = setTimeout(() => (waiting ? idle.refresh() : settle(tooSlow())), idleMs);
    const settle = (error?: unknown): void => {
      if (over) return;
      over = true;
      clearTimeout(idle);
      raw.pause();
      raw.off('data', take).off('end', settle).off('close', breakOff);
      if (error === undefined) resolve();
      else reject(error instanceof Error ? error : new Error('reading failed', { cause: error }));
    };
    const breakOff = (): void => settle(brokenOff());
    const resume = (): void => {
      waiting = false;
      idle.refresh();
      if (!over) raw.resume();
    };
    const take = (chunk: Buffer): void => {
      idle.refresh();
      try {
        const room = onChunk(chunk);
        if (room === undefined || over) return;
        waiting = true;
        raw.pause();
        room.then(resume, settle);
      } catch (error) {
        settle(error);
      }
    };
    failed.catch(settle);
    // This listener stays, so that an error after the body was read does not end the process.
    raw.on('error', breakOff);
    raw.on('data', take).once('end', settle).once('close', breakOff);
    if (raw.destroyed) breakOff();
    else grantContinue(raw);
  });

const tooSlow = (): HttpRefusal =>
  new HttpRefusal(408, 'request_timeout', 'The body did not arrive in time.', {}, { connection: 'close' });

const brokenOff = (): HttpRefusal => invalidRequest([{ path: '', message: 'The body ended early.' }]);
