import type { Model } from '../models/model-catalogue.js';
import type { Operation } from './operation.js';
import { CHOICE_MEMBERS } from './billed-members.js';
import { memberOf } from './json-value.js';
import { invalidRequest } from './refusal.js';
import { hasUrl } from './stored-references.js';
import type { RequestBody } from './unsupported-parameters.js';

/** What the dialect adds to a body: names of roles, separators. */
const OVERHEAD_TOKENS = 1_024;

/** The members by which callers limit the output, by route; the first is the one that is sent. */
const LIMITS: Readonly<Partial<Record<Operation['name'], readonly [string, ...string[]]>>> = {
  'chat/completions': ['max_completion_tokens', 'max_tokens'],
  responses: ['max_output_tokens'],
  messages: ['max_tokens'],
};

/** At most so many tokens can a body hold: none is shorter than a byte. */
export const inputBound = (body: RequestBody, sentBytes: number, { contextTokens }: Model): number => {
  if (hasUrl([body['messages'], body['input'], body['system']])) return contextTokens;
  // Numbers may take more room in the body that is sent on: 1e20.
  const bytes = Math.max(sentBytes, Buffer.byteLength(JSON.stringify(body)));
  return Math.min(bytes + OVERHEAD_TOKENS, contextTokens);
};

/** The limit of the output, of one choice. */
export interface OutputLimit {
  /** 0: the route has no output. */
  readonly tokens: number;
  /** The members under which it is sent, alone. */
  readonly members: readonly string[];
  /** Whether the caller set it. */
  readonly isCallers: boolean;
}

/** Errors: 400 for a limit that is not a positive integer. */
export const outputLimit = (body: RequestBody, { name }: Operation, model: Model): OutputLimit => {
  const ofRoute = LIMITS[name];
  if (ofRoute === undefined) return { tokens: 0, members: [], isCallers: false };
  const { outputLimitMember, maxOutputTokens } = model;
  const known = [...new Set([outputLimitMember ?? ofRoute[0], ...ofRoute])];
  // A provider may refuse two rival names of one route; the only name of a route is always heeded.
  const members = ofRoute.length > 1 ? known.slice(0, 1) : known;
  const limits = known.map((member) => positive(body, member)).filter((limit) => limit !== undefined);
  return limits.length > 0
    ? { tokens: Math.max(...limits), members, isCallers: true }
    : { tokens: maxOutputTokens, members, isCallers: false };
};

/** The most choices that are generated. Errors: 400 unless each number of them is a positive integer. */
export const choicesOf = (body: RequestBody): number =>
  Math.max(...CHOICE_MEMBERS.map((member) => positive(body, member) ?? 1));

const positive = (body: RequestBody, member: string): number | undefined => {
  const value = memberOf(body, member);
  if (value === undefined) return undefined;
  if (typeof value === 'number' && Number.isSafeInteger(value) && value > 0) return value;
  throw invalidRequest(`${member} must be a positive integer.`);
};
