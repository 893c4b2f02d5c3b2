import type { Readable, Writable } from 'node:stream';
import type { OpenedTransfer } from '@berth/contracts/hosting';
import { isDomainError } from '@berth/kernel';
import { Injectable } from '@nestjs/common';
import { withFreshTicket, type Open } from '../hosts/fresh-ticket.js';
import { HostConnections } from '../hosts/host-connections.js';
import {
  agentUnavailable,
  publicErrorOf,
  parseTransferRefusal,
  TicketLost,
} from '../http/transfer-refusal.js';

const REFUSAL_STATUS = 422;
const MAX_TEXT_CHARS = 65_536;
/** Bytes of a response that are buffered for a slow reader. */
const READ_AHEAD_BYTES = 262_144;

export interface TransferRequest {
  readonly method: 'GET' | 'HEAD';
  readonly headers?: Readonly<Record<string, string>>;
  /** Ends the transfer immediately, on both sides. */
  readonly signal: AbortSignal;
}

export interface TransferResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: Readable;
}

/**
 * Transfers bytes to and from agents without the broker: one HTTP request per ticket, to the data port of the agent's
 * host.
 */
@Injectable()
export class AgentTransfers {
  constructor(private readonly hosts: HostConnections) {}

  /**
   * Reads from an agent. Throws the errors of `open` and of the host, unavailable `agent_unavailable`, and the signal's
   * reason.
   */
  read(open: Open, request: TransferRequest): Promise<TransferResponse> {
    let { method } = request;
    return withFreshTicket(open, async (opened) => {
      const response = await this.#get(opened, { ...request, method }, () => {
        // The reason of an error is in its body, which a HEAD response lacks.
        method = 'GET';
      });
      if (request.method === 'HEAD' && method === 'GET') response.body.destroy();
      return response;
    });
  }

  /**
   * Sends one PUT with a ticket; `send` writes its body. Throws `TicketLost` if a new ticket may help, else as `read`
   * does.
   */
  async put(
    { ticket, ...target }: OpenedTransfer,
    send: (body: Writable) => void,
    signal: AbortSignal,
  ): Promise<TransferResponse> {
    const headers = { authorization: `Bearer ${ticket}`, 'content-type': 'application/octet-stream' };
    // Unlike Undici, Node's client reports when bytes were sent.
    const request = this.hosts.request(target, { method: 'PUT', headers, signal });
    const received = new Promise<TransferResponse>((resolve, reject) => {
      request.on('error', (error) => reject(signal.aborted ? signal.reason : failureOf(error)));
      request.once('response', (body) =>
        resolve({ status: body.statusCode ?? 0, headers: body.headers, body: body.on('error', ignore) }),
      );
    });
    send(request);
    const response = await received;
    if (response.status !== REFUSAL_STATUS) return response;
    const refusal = parseTransferRefusal(await readText(response.body));
    request.destroy();
    throw publicErrorOf(refusal);
  }

  async #get(
    { ticket, ...target }: OpenedTransfer,
    { method, headers, signal }: TransferRequest,
    onSilentRefusal: () => void,
  ): Promise<TransferResponse> {
    const { statusCode, ...response } = await this.hosts
      .read(target, {
        method,
        headers: { ...headers, authorization: `Bearer ${ticket}` },
        signal,
        highWaterMark: READ_AHEAD_BYTES,
      })
      .catch((error: unknown) => {
        throw signal.aborted ? signal.reason : failureOf(error);
      });
    if (statusCode !== REFUSAL_STATUS)
      return { status: statusCode, headers: response.headers, body: response.body };
    if (method === 'GET') throw publicErrorOf(parseTransferRefusal(await readText(response.body)));
    onSilentRefusal();
    throw new TicketLost('ticket_unknown');
  }
}

const ignore = (): void => undefined;

const NOT_CONNECTED: ReadonlySet<unknown> = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'EPIPE',
  'UND_ERR_SOCKET',
  'UND_ERR_CONNECT_TIMEOUT',
]);

/** The error of a connection to a host: `TicketLost` if a new ticket may help. */
export const failureOf = (error: unknown): Error => {
  if (isDomainError(error)) return error;
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  return NOT_CONNECTED.has(code)
    ? new TicketLost('not_connected', { cause: error })
    : agentUnavailable(error);
};

/** Reads a text, truncated to 65,536 characters. */
export const readText = async (body: Readable): Promise<string> => {
  let text = '';
  try {
    for await (const chunk of body.setEncoding('utf8')) {
      text += String(chunk);
      if (text.length > MAX_TEXT_CHARS) break;
    }
  } catch (error) {
    throw agentUnavailable(error);
  }
  return text;
};
