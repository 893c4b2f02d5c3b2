import { DomainError, isEffect, type ErrorKind, type Json } from '@berth/kernel';
import type {
  GuestEvent,
  GuestEvents,
  GuestHealth,
  PolledSchedules,
  ProgramResponse,
  ProgramState,
} from '@berth/guest-protocol';
import { fields, isText } from './response-fields.js';

// A guest runs among the agent's own processes: everything it returns is checked and bounded before it is passed on.

const KINDS: ReadonlySet<string> = new Set<ErrorKind>([
  'invalid',
  'forbidden',
  'not_found',
  'conflict',
  'too_large',
  'exhausted',
  'upstream',
  'unavailable',
  'unsupported',
  'timeout',
  'full',
  'internal',
]);
const STATES: ReadonlySet<string> = new Set<ProgramState>([
  'none',
  'starting',
  'serving',
  'restarting',
  'crash_loop',
  'stopped',
]);
/** Error codes that only a host may raise, because callers act on them. */
const CODES_OF_HOSTS: ReadonlySet<string> = new Set(['stale_epoch', 'agent_not_on_host', 'ticket_unknown']);
const LONGEST_MESSAGE = 2_100;
const MAX_CAPABILITIES = 50;
const MAX_EVENTS = 100;

/** The guest sent no valid response. */
export const guestUnreachable = (cause?: unknown): DomainError =>
  new DomainError(
    'unavailable',
    'guest_unreachable',
    'The agent cannot be reached right now.',
    {},
    { cause },
  );

/** Response of `health`, `program` and `env`. */
export const readHealth = (body: unknown): GuestHealth => {
  const { version, capabilities, program } = fields(body);
  if (!isText(version, 64) || !isState(program) || !Array.isArray(capabilities)) throw guestUnreachable();
  const valid = capabilities.filter((item): item is string => isText(item, 64)).slice(0, MAX_CAPABILITIES);
  return { version, capabilities: valid, program };
};

/** Response of `schedules`; the list itself is validated by the service that keeps it. */
export const readPolledSchedules = (body: unknown): PolledSchedules => {
  const { state, entries, problem } = fields(body);
  if (state === 'none') return { state };
  if (state === 'list' && entries !== undefined) return { state, entries: entries as Json };
  if (state === 'failed' && isText(problem, LONGEST_MESSAGE)) return { state, problem };
  throw guestUnreachable();
};

/** Response of `deliver`. */
export const readProgramResponse = (body: unknown): ProgramResponse => {
  const { response } = fields(body);
  if (typeof response !== 'string') throw guestUnreachable();
  return { response };
};

/** Response of `events`. */
export const readEvents = (body: unknown): GuestEvents => {
  const { events, last } = fields(body);
  if (!Array.isArray(events) || !Number.isSafeInteger(last)) throw guestUnreachable();
  return {
    last: Number(last),
    events: events.slice(0, MAX_EVENTS).flatMap((event: unknown) => {
      const { seq, type, message } = fields(event);
      if (!Number.isSafeInteger(seq) || !isEventType(type) || typeof message !== 'string') return [];
      return [{ seq: Number(seq), type, message: message.slice(0, LONGEST_MESSAGE) }];
    }),
  };
};

/** Converts the guest's error body to a domain error. */
export const readRefusal = (body: unknown): DomainError => {
  const error = fields(body)['error'];
  const failure = readFailure(error);
  if (failure === undefined) return guestUnreachable();
  const { context, effect } = fields(error);
  return new DomainError(
    failure.kind,
    failure.code,
    failure.message,
    readContext(context),
    isEffect(effect) ? { effect } : {},
  );
};

/** Kind, code and message of a guest's error; undefined if the body is malformed. */
export const readFailure = (
  failure: unknown,
): { readonly kind: ErrorKind; readonly code: string; readonly message: string } | undefined => {
  const { kind, code, message } = fields(failure);
  const wellFormed = isText(code, 64) && /^[a-z_]+$/.test(code) && !CODES_OF_HOSTS.has(code);
  if (!isKind(kind) || !wellFormed || typeof message !== 'string') return undefined;
  return { kind, code, message: message.slice(0, LONGEST_MESSAGE) };
};

const readContext = (context: unknown): DomainError['context'] => {
  const { limitBytes } = fields(context);
  return {
    ...(Number.isSafeInteger(limitBytes) && Number(limitBytes) >= 0
      ? { limitBytes: Number(limitBytes) }
      : {}),
  };
};

const isEventType = (value: unknown): value is GuestEvent['type'] =>
  value === 'crash_loop' || value === 'killed';

const isState = (value: unknown): value is ProgramState => typeof value === 'string' && STATES.has(value);

const isKind = (value: unknown): value is ErrorKind => typeof value === 'string' && KINDS.has(value);
