import type { Operation } from './operation.js';
import { isObject, memberOf } from './json-value.js';
import type { RequestBody } from './unsupported-parameters.js';

/** The limit to set; see `outputLimit`. */
export interface SetLimit {
  readonly member: string | null;
  readonly tokens: number;
}

/** The body for the upstream: nothing is stored there, nothing is billed at another tier, and the usage is reported. */
export const upstreamBody = (body: RequestBody, operation: Operation, limit: SetLimit): RequestBody => ({
  ...body,
  ...(limit.member === null ? {} : { [limit.member]: limit.tokens }),
  ...storeOf(body, operation),
  ...(memberOf(body, 'service_tier') === undefined ? {} : { service_tier: TIERS[operation.dialect] }),
  ...(hidesUsage(body, operation)
    ? { stream_options: { ...objectOf(body['stream_options']), include_usage: true } }
    : {}),
});

const TIERS = { openai: 'default', anthropic: 'standard_only' };

const storeOf = (body: RequestBody, { name }: Operation): RequestBody =>
  name === 'responses' || memberOf(body, 'store') !== undefined ? { store: false } : {};

/** Whether the caller gets no chunk with the usage: it did not ask for one. */
export const hidesUsage = (body: RequestBody, { name }: Operation): boolean =>
  name === 'chat/completions' &&
  body['stream'] === true &&
  memberOf(body['stream_options'], 'include_usage') !== true;

const objectOf = (value: unknown): RequestBody => (isObject(value) ? value : {});
