import { DomainError, type ErrorKind } from '@berth/kernel';
import { isPlainObject } from '../validation/dto-validation.js';

const KINDS: ReadonlySet<string> = new Set<ErrorKind>([
  'invalid',
  'unauthenticated',
  'forbidden',
  'not_found',
  'conflict',
  'too_large',
  'exhausted',
  'unsupported',
  'upstream',
  'unavailable',
  'timeout',
]);
const LONGEST_MESSAGE = 2_100;

/** What a host's data port refuses a transfer with, as an error of ours; unavailable `agent_unavailable` for anything else. */
export const readHostRefusal = (text: string): DomainError => {
  const { kind, code, message, context } = fieldsOf(fieldsOf(parse(text))['error']);
  if (
    !isKind(kind) ||
    typeof code !== 'string' ||
    !/^[a-z_]{1,64}$/.test(code) ||
    typeof message !== 'string'
  ) {
    return unreachable();
  }
  if (code === 'guest_unreachable') return unreachable();
  const { limitBytes } = fieldsOf(context);
  return new DomainError(
    kind,
    code,
    message.slice(0, LONGEST_MESSAGE),
    typeof limitBytes === 'number' ? { limitBytes } : {},
  );
};

const unreachable = (): DomainError =>
  new DomainError('unavailable', 'agent_unavailable', 'The agent cannot be reached; try again.');

const isKind = (value: unknown): value is ErrorKind => typeof value === 'string' && KINDS.has(value);

const fieldsOf = (value: unknown): Readonly<Record<string, unknown>> => (isPlainObject(value) ? value : {});

const parse = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
};
