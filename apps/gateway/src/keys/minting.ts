import { SCOPES, type Scope } from '@berth/contracts/accounts';
import type { FieldProblem } from '../http/http-refusal.js';
import { parseIsoTime } from '../validation/iso-time.js';
import { isPlainObject } from '../validation/schema-keywords.js';

const isScope = (value: unknown): value is Scope => SCOPES.some((scope) => scope === value);

/** The requested scopes; the caller's key must hold all of them. */
export const scopesOfMinting = (body: unknown): readonly Scope[] => {
  const requested: unknown = isPlainObject(body) ? body['scopes'] : undefined;
  return Array.isArray(requested) ? requested.filter(isScope) : [];
};

/** Checks what no schema can express: a key must expire in the future. */
export const expiryProblems = (body: unknown): readonly FieldProblem[] => {
  const expires = isPlainObject(body) ? parseIsoTime(body['expiresAt']) : undefined;
  if (expires === undefined || expires > Date.now()) return [];
  return [{ path: 'expiresAt', message: 'must be in the future' }];
};
