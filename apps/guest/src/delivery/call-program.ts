import { once } from 'node:events';
import { request, type IncomingMessage } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import { DomainError } from '@berth/kernel';
import { GUEST_LIMITS, type DeliverToProgram, type ProgramResponse } from '@berth/guest-protocol';
import type { Endpoint } from '../program/readiness.js';
import { parseReply, readFailure } from './parse-reply.js';

const DYING_MS = 100;

/** The connection was not established: the message did not reach the program. */
export class NotConnected extends Error {
  override readonly name = 'NotConnected';
}

/** The program refused a message that has a source with 429 or 503: the message may be handed over again. */
export class Declined extends Error {
  override readonly name = 'Declined';

  constructor(readonly status: number) {
    super();
  }
}

/**
 * Sends `POST /chat` to the agent's program. Errors: `NotConnected`, `Declined`, upstream `agent_error`, timeout
 * `agent_timeout`.
 */
export const callProgram = async (
  endpoint: Endpoint,
  message: DeliverToProgram,
  signal: AbortSignal,
): Promise<ProgramResponse> => {
  const { traceparent } = message;
  const body = Buffer.from(JSON.stringify(chatBody(message)));
  let connected = false;
  try {
    const call = request({
      ...endpoint,
      method: 'POST',
      path: '/chat',
      // Use a new connection for each chat: a pooled one may belong to an earlier process of the program.
      agent: false,
      signal,
      headers: {
        'content-type': 'application/json',
        'content-length': body.length,
        ...(traceparent === undefined ? {} : { traceparent }),
      },
    });
    call.on('socket', (socket) => socket.once('connect', () => (connected = true)));
    call.on('error', () => undefined);
    const switched = new AbortController();
    // After a switch of protocols, Node reports neither a response nor an error of this request.
    call.once('upgrade', (_response, connection) => {
      connection.destroy();
      switched.abort();
    });
    call.end(body);
    const [response] = (await once(call, 'response', { signal: switched.signal })) as [IncomingMessage];
    if (message.source !== undefined) return await statusOf(response);
    const text = await readText(response);
    const status = response.statusCode ?? 500;
    if (status < 200 || status > 299) throw agentError(readFailure(status, text));
    return parseReply(text);
  } catch (error) {
    if (error instanceof DomainError || error instanceof Declined) throw error;
    if (!connected) throw new NotConnected();
    if (signal.aborted) throw agentTimeout(true);
    // A dying program closes its sockets before its exit is noticed; the next message would be lost in them.
    await delay(DYING_MS);
    throw agentError('The agent stopped while it was responding.');
  }
};

/**
 * Body for the program. It has `attachments` only if there are any, so that programs without support need not handle
 * them.
 */
const chatBody = ({
  message,
  conversationId,
  attachments = [],
  source,
  deliveryId,
  contentType,
}: DeliverToProgram): object => ({
  message,
  conversation_id: conversationId,
  ...(source === undefined ? {} : { source }),
  ...(contentType === undefined ? {} : { delivery_id: deliveryId, content_type: contentType }),
  ...(attachments.length === 0
    ? {}
    : { attachments: attachments.map(({ path, name, size }) => ({ path, name, size })) }),
});

/** The outcome of a message with a source is the status alone. The body is used only for the message of an error. */
const statusOf = async (response: IncomingMessage): Promise<ProgramResponse> => {
  const { statusCode: status = 500 } = response;
  const delivered = status >= 200 && status <= 299;
  const text = await readText(response).catch(() => '');
  if (delivered) return { response: '' };
  if (status === 429 || status === 503) throw new Declined(status);
  throw agentError(readFailure(status, text));
};

/** An error that the agent itself reported, with its message. */
export const agentError = (message: string): DomainError =>
  new DomainError('upstream', 'agent_error', message);

/** The chat has reached its time limit. */
export const agentTimeout = (handedOver: boolean): DomainError =>
  new DomainError(
    'timeout',
    'agent_timeout',
    handedOver
      ? 'The agent did not answer in time.'
      : 'The agent was busy with earlier messages of this conversation; this one was not handed over.',
    {},
    { effect: handedOver ? 'unknown' : 'none' },
  );

const readText = async (response: IncomingMessage): Promise<string> => {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of response as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > GUEST_LIMITS.chatResponseBytes) throw responseTooLarge();
    chunks.push(chunk);
  }
  const text = Buffer.concat(chunks).toString('utf8');
  // Each byte that is not valid UTF-8 becomes a replacement character of three bytes.
  if (Buffer.byteLength(text) > GUEST_LIMITS.chatResponseBytes) throw responseTooLarge();
  return text;
};

const responseTooLarge = (): DomainError => agentError('The response of the agent is larger than 2 MiB.');
