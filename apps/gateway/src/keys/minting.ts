import { SCOPES, type Scope } from '@berth/contracts/accounts';
import type { FieldProblem } from '../http/http-refusal.js';
import { parseIsoTime } from '../validation/iso-time.js';
import { isPlainObject } from '../validation/schema-keywords.js';

const isScope = (value: unknown): value is Scope => SCOPES.some((scope) => scope === value);

/** A key mints only scopes that it holds. */
export const scopesOfMinting = (body: unknown): readonly Scope[] => {
  const asked: unknown = isPlainObject(body) ? body['scopes'] : undefined;
  return Array.isArray(asked) ? asked.filter(isScope) : [];
};

/** What no schema can say: a key expires in the future. */
export const expiryProblems = (body: unknown): readonly FieldProblem[] => {
  const expires = isPlainObject(body) ? parseIsoTime(body['expiresAt']) : undefined;
  if (expires === undefined || expires > Date.now()) return [];
  return [{ path: 'expiresAt', message: 'must lie in the future' }];
};
