import type { ApiReply } from '../http/fastify-types.js';
import { HttpRefusal } from '../http/http-refusal.js';

/** A client that receives nothing for this long is disconnected, because its transfer keeps an agent awake. */
const STALLED_MS = 60_000;

/** Returns a signal that aborts when the client disconnects; disconnects a client that receives nothing. */
export const untilGone = ({ raw }: ApiReply): AbortSignal => {
  const gone = new AbortController();
  raw.setTimeout(STALLED_MS, () => raw.destroy());
  raw.once('close', () => {
    raw.setTimeout(0);
    // This error is never sent, because the client has left.
    if (!raw.writableFinished) gone.abort(new HttpRefusal(408, 'request_aborted', 'The client hung up.'));
  });
  return gone.signal;
};
