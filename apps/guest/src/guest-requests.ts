import { DomainError } from '@berth/kernel';
import type { AbandonDelivery, DeliverToProgram, PutEnv, PutProgram, ShutDown } from '@berth/guest-protocol';

// Only the runtime that started this guest can reach its socket, and both are of one release: these checks detect a
// protocol mismatch, not an attack.

type Fields = Readonly<Record<string, unknown>>;

const fieldsOf = (body: unknown, check: (fields: Fields) => boolean): Fields => {
  if (typeof body === 'object' && body !== null && check(body as Fields)) return body as Fields;
  throw notUnderstood();
};

/** The error of a request that another version would make. */
export const notUnderstood = (): DomainError =>
  new DomainError('invalid', 'invalid_request', 'The guest does not understand this request.');

const isText = (value: unknown): value is string => typeof value === 'string';
const isMap = (value: unknown): boolean =>
  typeof value === 'object' && value !== null && Object.values(value).every(isText);

/** Body of `PUT /v1/program`. */
export const readProgram = (body: unknown): PutProgram =>
  fieldsOf(
    body,
    ({ agentId, command, cwd, volume, tmp, path, env, token, restart, readyWithinMs }) =>
      [agentId, cwd, volume, tmp, path, token].every(isText) &&
      (command === null || (Array.isArray(command) && command.length > 0 && command.every(isText))) &&
      isMap(env) &&
      typeof restart === 'object' &&
      typeof readyWithinMs === 'number',
  ) as unknown as PutProgram;

/** Body of `PUT /v1/env`. */
export const readEnvChange = (body: unknown): PutEnv =>
  fieldsOf(
    body,
    ({ env, readyWithinMs }) => isMap(env) && typeof readyWithinMs === 'number',
  ) as unknown as PutEnv;

/** Body of `POST /v1/deliver`. */
export const readDelivery = (body: unknown): DeliverToProgram =>
  fieldsOf(
    body,
    ({ deliveryId, conversationId, message, source, contentType, traceparent }) =>
      [deliveryId, conversationId, message].every(isText) &&
      (source === undefined || isText(source)) &&
      (contentType === undefined || contentType === null || isText(contentType)) &&
      (traceparent === undefined || isTraceparent(traceparent)),
  ) as unknown as DeliverToProgram;

const isTraceparent = (value: unknown): boolean =>
  typeof value === 'string' && /^[0-9a-f]{2}-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}$/.test(value);

/** Body of `POST /v1/deliveries/abandon`. */
export const readAbandonment = (body: unknown): AbandonDelivery =>
  fieldsOf(body, ({ deliveryId }) => deliveryId === null || isText(deliveryId)) as unknown as AbandonDelivery;

/** Body of `POST /v1/shutdown`. */
export const readShutDown = (body: unknown): ShutDown =>
  fieldsOf(body, ({ graceMs }) => typeof graceMs === 'number') as unknown as ShutDown;
