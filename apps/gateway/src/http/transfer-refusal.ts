import { DomainError, isErrorKind, type Json } from '@berth/kernel';

const CODE = /^[a-z][a-z0-9_]{0,63}$/;
const MAX_MESSAGE_CHARS = 2_000;

/** Parses the error body of a host's 422; undefined if malformed. */
export const parseTransferRefusal = (text: string): DomainError | undefined => {
  let body: unknown;
  try {
    body = JSON.parse(text);
  } catch {
    return undefined;
  }
  const error = isObject(body) ? body['error'] : undefined;
  if (!isObject(error)) return undefined;
  const { kind, code, message, context = {} } = error;
  if (!isErrorKind(kind) || typeof code !== 'string' || !CODE.test(code)) return undefined;
  if (typeof message !== 'string' || !isObject(context)) return undefined;
  return new DomainError(kind, code, message.slice(0, MAX_MESSAGE_CHARS), context as Context);
};

type Context = { readonly [key: string]: Json | undefined };

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** A ticket was rejected although it was valid when it was issued. */
export class TicketLost extends Error {
  override readonly name = 'TicketLost';

  constructor(
    readonly reason: 'stale_epoch' | 'ticket_unknown' | 'not_connected',
    options?: ErrorOptions,
  ) {
    super(`A ticket was rejected: ${reason}.`, options);
  }
}

/** Maps a host's error: `TicketLost` if a new ticket may help, else an error for the caller that does not mention hosts. */
export const publicErrorOf = (refusal: DomainError | undefined): Error => {
  if (refusal?.code === 'stale_epoch') return new TicketLost('stale_epoch', { cause: refusal });
  if (refusal?.kind === 'unauthenticated') return new TicketLost('ticket_unknown', { cause: refusal });
  if (refusal === undefined || refusal.code === 'guest_unreachable') return agentUnavailable(refusal);
  return refusal;
};

export const agentUnavailable = (cause: unknown): DomainError =>
  new DomainError(
    'unavailable',
    'agent_unavailable',
    'The agent cannot be reached right now. Try again in a moment.',
    {},
    { cause, effect: 'none' },
  );

/** The agent went away while a file was on its way to it. */
export const transferLost = (cause: unknown): DomainError =>
  new DomainError(
    'unavailable',
    'transfer_lost',
    'The agent went away during the transfer; nothing was stored. Try again.',
    {},
    { cause, effect: 'none' },
  );
