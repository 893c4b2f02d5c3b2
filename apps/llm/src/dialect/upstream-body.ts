import { folded, LIMIT_MEMBERS } from './billed-members.js';
import type { OutputLimit } from './call-bounds.js';
import type { Operation } from './operation.js';
import { isObject, memberOf } from './json-value.js';
import type { RequestBody } from './unsupported-parameters.js';

/** The body for the upstream: nothing is stored there, nothing is billed beyond the limit or at another tier, and the usage is reported. */
export const upstreamBody = (
  body: RequestBody,
  operation: Operation,
  limit: Pick<OutputLimit, 'members' | 'tokens'>,
): RequestBody => ({
  ...limited(body, limit),
  ...storeOf(body, operation),
  ...(memberOf(body, 'service_tier') === undefined ? {} : { service_tier: TIERS[operation.dialect] }),
  ...(hidesUsage(body, operation)
    ? { stream_options: { ...objectOf(body['stream_options']), include_usage: true } }
    : {}),
});

const limited = (
  body: RequestBody,
  { members, tokens }: Pick<OutputLimit, 'members' | 'tokens'>,
): RequestBody => {
  if (members.length === 0) return body;
  const dropped = new Set([...LIMIT_MEMBERS, ...members]);
  const others = Object.entries(body).filter(([name]) => !dropped.has(folded(name)));
  return Object.fromEntries([...others, ...members.map((member) => [member, tokens] as const)]);
};

const TIERS = { openai: 'default', anthropic: 'standard_only' };

const storeOf = (body: RequestBody, { name }: Operation): RequestBody =>
  name === 'responses' || memberOf(body, 'store') !== undefined ? { store: false } : {};

/** Whether the caller gets no chunk with the usage: it did not ask for one. */
export const hidesUsage = (body: RequestBody, { name }: Operation): boolean =>
  name === 'chat/completions' &&
  body['stream'] === true &&
  memberOf(body['stream_options'], 'include_usage') !== true;

const objectOf = (value: unknown): RequestBody => (isObject(value) ? value : {});
