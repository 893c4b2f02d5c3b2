import Type, { type Static } from 'typebox';
import { defineEvent } from '../schema/define-event.js';
import { TOKEN_SCOPES } from './end-user-token.js';
import { policy } from '../schema/index.js';

const AboutEndUser = Type.Object({
  accountId: Type.String(),
  endUserId: Type.String(),
  at: Type.String({ description: 'ISO 8601.' }),
});

/** Payload of every event about an end user. It holds no personal data. */
export type EndUserEventPayload = Readonly<Static<typeof AboutEndUser>>;

const TokenMinted = Type.Object({
  ...AboutEndUser.properties,
  tokenId: Type.String(),
  agentId: Type.String(),
  scopes: Type.Array(Type.Enum([...TOKEN_SCOPES])),
  expiresAt: Type.String({ description: 'ISO 8601.' }),
});

const TokensRevoked = Type.Object({ ...AboutEndUser.properties, tokenIds: Type.Array(Type.String()) });

const PolicySet = Type.Object({ ...AboutEndUser.properties, policy });

const DefaultsChanged = Type.Object({
  accountId: Type.String(),
  policy: Type.Union([policy, Type.Null()], { description: 'Null when there are none any more.' }),
  at: Type.String({ description: 'ISO 8601.' }),
});

/** Payload of the events about the policy of an end user. */
export type PolicySetPayload = Readonly<Static<typeof PolicySet>>;
export type DefaultsChangedPayload = Readonly<Static<typeof DefaultsChanged>>;

/** The events of `end-users`: `evt.end-users.<name>.v1.<account>.<end user>`. */
export const endUsersEvents = {
  created: defineEvent('end-users', 'created', AboutEndUser),
  updated: defineEvent('end-users', 'updated', AboutEndUser),
  suspended: defineEvent('end-users', 'suspended', AboutEndUser),
  resumed: defineEvent('end-users', 'resumed', AboutEndUser),
  deleted: defineEvent('end-users', 'deleted', AboutEndUser),
  policySet: defineEvent('end-users', 'policy-set', PolicySet),
  policyRemoved: defineEvent('end-users', 'policy-removed', AboutEndUser),
  /** The subject ends in the account, twice. */
  defaultsChanged: defineEvent('end-users', 'defaults-changed', DefaultsChanged),
  tokenMinted: defineEvent('end-users', 'token-minted', TokenMinted),
  tokensRevoked: defineEvent('end-users', 'tokens-revoked', TokensRevoked),
};
