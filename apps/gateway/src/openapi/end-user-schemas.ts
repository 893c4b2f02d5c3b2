import type { EndUserSpend } from '@berth/contracts/agents';
import {
  END_USER_STATUSES,
  TOKEN_SCOPES,
  type EndUserPolicy,
  type EndUserView,
  type MintedToken,
} from '@berth/contracts/end-users';
import {
  integer,
  integerOrNull,
  list,
  number,
  object,
  page,
  ref,
  text,
  textOrNull,
  time,
  timeOrNull,
  view,
  type JsonSchema,
  type MembersOf,
} from './json-schema.js';

/** Declared with its bounds in the contract of `end-users`. */
const policyOrNull: JsonSchema = { anyOf: [ref('Policy'), { type: 'null' }] };

const endUserMembers: MembersOf<EndUserView> = {
  externalId: text,
  displayName: textOrNull,
  metadata: { type: 'object', additionalProperties: { type: ['string', 'number', 'boolean', 'null'] } },
  tags: list(text),
  status: { enum: [...END_USER_STATUSES] },
  suspendedAt: timeOrNull,
  createdAt: time,
  updatedAt: time,
  lastActiveAt: timeOrNull,
  agentCount: integer,
  policy: policyOrNull,
};

/** The schemas of responses about end users. */
export const END_USER_SCHEMAS: { readonly [name: string]: JsonSchema } = {
  EndUser: view<EndUserView>(endUserMembers),
  EndUserPage: page('EndUser'),
  MintedToken: view<MintedToken>({
    token: { ...text, description: 'No other response contains it.' },
    tokenId: text,
    externalId: text,
    agentId: text,
    scopes: list({ enum: [...TOKEN_SCOPES] }),
    ttlSeconds: integer,
    expiresAt: time,
  }),
  RevokedTokens: object({ revoked: integer }),
  EndUserDetail: object({
    ...endUserMembers,
    agents: list(ref('Agent')),
    spend: view<EndUserSpend>({
      periodStart: time,
      aiCents: { ...number, description: 'LLM calls of the month.' },
      capCents: integerOrNull,
      computeMinutes: { ...number, description: 'To six decimals.' },
      computeCapMinutes: integerOrNull,
      resetsAt: time,
    }),
  }),
  EndUserPolicy: view<EndUserPolicy>({ externalId: text, policy: policyOrNull }),
  AppliedPolicy: object({
    externalId: text,
    policy: ref('Policy'),
    agentsUpdated: { ...integer, description: 'The agents that the end user has now.' },
  }),
  EndUserDefaults: object({ policy: policyOrNull }),
};
