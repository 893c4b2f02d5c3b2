import { DomainError } from '@berth/kernel';
import type { RunCommand, RunLegacyCommand } from '@berth/guest-protocol';

// As in guest-requests: these checks detect a protocol mismatch, not an attack.

type Fields = Readonly<Record<string, unknown>>;

/** The id becomes a file name. */
const ID_FORM = /^[a-z0-9_]{1,64}$/;

/** Body of `execute`. */
export const readRunCommand = (body: unknown): RunCommand => {
  const fields = fieldsOf(body);
  const { executionId, waitMs } = fields;
  if (!isExecutionId(executionId) || !isCommand(fields) || !isWait(waitMs)) throw notUnderstood();
  return fields as unknown as RunCommand;
};

/** Body of `executeLegacy`. */
export const readRunLegacyCommand = (body: unknown): RunLegacyCommand => {
  const fields = fieldsOf(body);
  if (!isCommand(fields)) throw notUnderstood();
  return fields as unknown as RunLegacyCommand;
};

/** Body of `cancelExecution` and `precludeExecution`. */
export const readExecutionId = (body: unknown): string => {
  const { executionId } = fieldsOf(body);
  if (!isExecutionId(executionId)) throw notUnderstood();
  return executionId;
};

/** Queries of `execution` and `executionOutput`. */
export const readExecutionQuery = (
  query: URLSearchParams,
): { readonly executionId: string; readonly waitMs: number } => {
  const executionId = query.get('id');
  const waitMs = Number(query.get('waitMs') ?? 0);
  if (!isExecutionId(executionId) || !isWait(waitMs)) throw notUnderstood();
  return { executionId, waitMs };
};

const isCommand = ({ command, cwd, env, timeoutMs }: Fields): boolean =>
  typeof command === 'string' &&
  !command.includes('\0') &&
  (cwd === null || typeof cwd === 'string') &&
  isEnv(env) &&
  typeof timeoutMs === 'number' &&
  timeoutMs > 0;

const isEnv = (value: unknown): boolean =>
  typeof value === 'object' &&
  value !== null &&
  Object.entries(value).every(
    ([name, text]) => /^[^=\0]+$/.test(name) && typeof text === 'string' && !text.includes('\0'),
  );

const isExecutionId = (value: unknown): value is string => typeof value === 'string' && ID_FORM.test(value);

const isWait = (value: unknown): boolean => typeof value === 'number' && value >= 0;

const fieldsOf = (body: unknown): Fields => {
  if (typeof body === 'object' && body !== null) return body as Fields;
  throw notUnderstood();
};

const notUnderstood = (): DomainError =>
  new DomainError('invalid', 'invalid_request', 'The guest does not understand this request.');
