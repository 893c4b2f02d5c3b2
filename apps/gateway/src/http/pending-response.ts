import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';

/** Node hangs the response that is being written on the socket; its own handler looks there too. */
interface RespondingSocket extends Duplex {
  readonly _httpMessage?: ServerResponse | null;
}

/** The response to an earlier request of the connection that is not out yet. */
export const pendingResponse = (socket: Duplex | Socket): ServerResponse | undefined =>
  (socket as RespondingSocket)._httpMessage ?? undefined;
