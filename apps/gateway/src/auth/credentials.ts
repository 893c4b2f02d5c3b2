import { createHash } from 'node:crypto';
import { isWellFormedKey } from '@berth/contracts/accounts';
import { SECRET_PREFIXES } from '@berth/kernel';
import type { IncomingHttpHeaders } from 'node:http';
import type { Access } from './access.js';
import type { PrincipalKind } from './principal.js';

/** A credential that the client sent, before any lookup. */
export interface Credential {
  readonly kind: PrincipalKind;
  /** See `hashKey`; the secret itself is not kept. */
  readonly hash: string;
  /** The start of the agent that the token of an agent names; absent unless it is well-formed. */
  readonly start?: AgentStart;
}

/** One start of an agent, whose program gets a token of its own. */
export interface AgentStart {
  readonly agentId: string;
  readonly epoch: number;
}

/** The credentials that a route accepts. */
export interface CredentialRules {
  readonly accepts: Access;
  /** `?token=` may carry a token, as on WebSockets, where clients cannot set headers. Never an API key. */
  readonly tokenInQuery?: boolean;
}

/** SHA-256 of a key or token, hex: sent and stored instead of it. */
export const hashKey = (key: string): string => createHash('sha256').update(key).digest('hex');

const BEARER = /^Bearer +([^\s]+) *$/i;
const KIND_OF_PREFIX: Readonly<Record<string, PrincipalKind>> = {
  [SECRET_PREFIXES.endUserToken]: 'end_user',
  [SECRET_PREFIXES.agentToken]: 'agent',
  [SECRET_PREFIXES.webhookToken]: 'webhook',
};
/** The kinds of credentials that `?token=` may carry. */
export const QUERY_TOKEN_KINDS = ['end_user', 'webhook'] as const;

/** The well-formed credential of an `Authorization` header, or undefined. */
export const bearerOf = (authorization: string | undefined): Credential | undefined => {
  const secret = authorization === undefined ? undefined : BEARER.exec(authorization)?.[1];
  return secret === undefined ? undefined : credentialIn(secret);
};

/** Parses a key or token; undefined if it is not well-formed. */
export const credentialIn = (secret: string): Credential | undefined =>
  isWellFormedKey(secret) ? { kind: 'key', hash: hashKey(secret) } : tokenOf(secret);

/** The credential of a request, headers before the query; undefined if it carries no well-formed one. */
export const credentialOf = (
  { headers, query }: { readonly headers: IncomingHttpHeaders; readonly query: unknown },
  { tokenInQuery = false }: Pick<CredentialRules, 'tokenInQuery'>,
): Credential | undefined => {
  if (headers.authorization !== undefined || !tokenInQuery) return bearerOf(headers.authorization);
  const token = Object(query).token as unknown;
  return typeof token === 'string' ? tokenIn(token) : undefined;
};

/** The credential that a query's member `token` carries; undefined if this credential must not be in a URL. */
export const tokenIn = (token: string): Credential | undefined => {
  const credential = tokenOf(token);
  return QUERY_TOKEN_KINDS.some((kind) => kind === credential?.kind) ? credential : undefined;
};

const tokenOf = (secret: string): Credential | undefined => {
  const prefix = secret.slice(0, Math.max(0, secret.indexOf('_')));
  const kind = Object.hasOwn(KIND_OF_PREFIX, prefix) ? KIND_OF_PREFIX[prefix] : undefined;
  if (kind === undefined) return undefined;
  const start = kind === 'agent' ? startIn(secret) : undefined;
  return { kind, hash: hashKey(secret), ...(start === undefined ? {} : { start }) };
};

const AGENT_TOKEN = new RegExp(`^${SECRET_PREFIXES.agentToken}_([0-9a-z]{26})_(\\d{1,9})_`);

const startIn = (token: string): AgentStart | undefined => {
  const [, agent, epoch] = AGENT_TOKEN.exec(token) ?? [];
  return agent === undefined ? undefined : { agentId: `agt_${agent}`, epoch: Number(epoch) };
};

/** Long enough that no name or label is mistaken for a credential. */
const LOOKS_SECRET = new RegExp(
  `^(?:${SECRET_PREFIXES.apiKey}|${SECRET_PREFIXES.endUserToken})_[0-9A-Za-z]{20,}$`,
);

/** Whether a query carries an API key or a token of an end user under any name. */
export const hasSecretOfAccount = (query: unknown): boolean =>
  Object.values(Object(query) as object)
    .flat()
    .some((text) => typeof text === 'string' && LOOKS_SECRET.test(text));

/**
 * Whether a query carries a credential that it must not carry: the member `token`, or a key or token under any name.
 * URLs end up in histories and logs, so such a request is rejected even if its header authenticates it. With
 * `tokenInQuery` the member `token` may carry one of the tokens for queries, and nothing else.
 */
export const hasForbiddenCredential = (query: unknown, tokenInQuery: boolean): boolean => {
  if (typeof query !== 'object' || query === null) return false;
  return Object.entries(query).some(([name, value]) => {
    const texts = [value].flat().filter((text): text is string => typeof text === 'string');
    if (name !== 'token') return texts.some((text) => LOOKS_SECRET.test(text));
    return !tokenInQuery || texts.length !== 1 || texts.some((text) => tokenIn(text) === undefined);
  });
};
