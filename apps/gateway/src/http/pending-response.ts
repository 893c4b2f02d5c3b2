import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';

/** Node stores the response in progress on the socket; its own handler reads it there too. */
interface RespondingSocket extends Duplex {
  readonly _httpMessage?: ServerResponse | null;
}

/** The response to an earlier request of the connection that is not sent yet. */
export const pendingResponse = (socket: Duplex | Socket): ServerResponse | undefined =>
  (socket as RespondingSocket)._httpMessage ?? undefined;
