import { hasBody } from '@berth/sockets';
import { payloadTooLarge, unsupportedMediaType } from '../http/error-response.js';
import type { ApiRequest } from '../http/fastify-types.js';
import { invalidRequest, type FieldProblem } from '../http/http-refusal.js';

export interface Expected {
  /** Pattern of the declared type; a body without a type is accepted if `untyped`. */
  readonly type: RegExp;
  readonly untyped: boolean;
  readonly typeName: string;
  /** Maximum length of the body: a longer one cannot be within the limits. */
  readonly limitBytes: number;
  /** The limit that the error for a longer body states. */
  readonly capBytes: number;
  /** The name of the missing part in the error for an absent body. */
  readonly missing: readonly FieldProblem[];
}

/** Refuses a body by its headers, without reading it: 400 if absent, 415, 413. */
export const expectBody = ({ raw, declaredType, headers }: ApiRequest, expected: Expected): void => {
  if (!hasBody(raw)) throw invalidRequest(expected.missing);
  const encoding = headers['content-encoding'];
  if (encoding !== undefined && encoding.toLowerCase() !== 'identity') {
    throw unsupportedMediaType('Send the body without Content-Encoding.');
  }
  const typed = declaredType === undefined ? expected.untyped : expected.type.test(declaredType);
  if (!typed) throw unsupportedMediaType(`Send the body as ${expected.typeName}.`);
  if (Number(headers['content-length'] ?? 0) > expected.limitBytes) throw payloadTooLarge(expected.capBytes);
};
