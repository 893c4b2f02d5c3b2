import Type from 'typebox';
import {
  EXTERNAL_USER_ID,
  isoTime,
  isStorable,
  oneOf,
  orNull,
  pageMembers,
  policy,
  text,
  utf8Bytes,
  whole,
  withMessage,
  type Shape,
} from '../schema/index.js';
import { TOKEN_SCOPES } from './end-user-token.js';
import { END_USER_STATUSES, type MetadataValue } from './end-user.view.js';

const METADATA = { members: 50, bytes: 16_384 };
const TAGS = { max: 8, chars: 64 };
const DISPLAY_NAME_CHARS = 256;

/** Texts without a bound of their own: the metadata as a whole has one. */
const metadataText = Type.Refine(
  Type.String(),
  isStorable,
  () => 'must be valid Unicode without NUL characters',
);

const metadata = Type.Refine(
  Type.Unsafe<Record<string, MetadataValue>>({
    type: 'object',
    propertyNames: metadataText,
    additionalProperties: Type.Union([metadataText, Type.Number(), Type.Boolean(), Type.Null()]),
    maxProperties: METADATA.members,
  }),
  (value) => utf8Bytes(JSON.stringify(value)) <= METADATA.bytes,
  () =>
    `must be an object of at most ${METADATA.members} texts, numbers, booleans and nulls, and ${METADATA.bytes} bytes as JSON`,
);

const tags = withMessage(
  Type.Array(text({ max: TAGS.chars }), { maxItems: TAGS.max, uniqueItems: true }),
  `must be a list of at most ${TAGS.max} different texts of 1 to ${TAGS.chars} characters`,
);

/** `PUT /api/v1/end-users/{external_id}` */
export const putEndUserBody = Type.Object(
  {
    displayName: Type.Optional(
      orNull(text({ min: 0, max: DISPLAY_NAME_CHARS }), {
        description: `Up to ${DISPLAY_NAME_CHARS} characters.`,
      }),
    ),
    metadata: Type.Optional(
      orNull(metadata, {
        description: `Replaces the whole: at most ${METADATA.members} members and ${METADATA.bytes} bytes as JSON.`,
      }),
    ),
    tags: Type.Optional(
      orNull(tags, {
        description: `Replaces the whole: at most ${TAGS.max} different tags of 1 to ${TAGS.chars} characters.`,
      }),
    ),
  },
  { $id: 'PutEndUserBody', description: 'A member that is left out is kept; null clears it.' },
);
export type PutEndUserBody = Shape<typeof putEndUserBody>;

/** `GET /api/v1/end-users` */
export const listEndUsersQuery = Type.Object({
  status: Type.Optional(oneOf(END_USER_STATUSES)),
  tag: Type.Optional(text({ max: TAGS.chars }, { description: 'One whole tag.' })),
  externalIdPrefix: Type.Optional(
    text({ max: EXTERNAL_USER_ID.max }, { description: 'Literal: `_` and `%` are characters.' }),
  ),
  lastActiveBefore: Type.Optional(isoTime({ description: 'Excludes end users who were never active.' })),
  lastActiveAfter: Type.Optional(isoTime({ description: 'Excludes end users who were never active.' })),
  ...pageMembers,
});
export type ListEndUsersQuery = Shape<typeof listEndUsersQuery>;

const tokenScopes = withMessage(
  Type.Array(oneOf(TOKEN_SCOPES), { minItems: 1, uniqueItems: true }),
  `must be a list of different scopes out of ${TOKEN_SCOPES.join(', ')}`,
);

/** `POST /api/v1/end-users/{external_id}/tokens` */
export const mintTokenBody = Type.Object(
  {
    scopes: Type.Optional(orNull(tokenScopes, { description: 'Default: `chat`.' })),
    ttlSeconds: Type.Optional(orNull(whole(30, 3_600), { description: 'Default 900.' })),
    agentId: Type.Optional(
      orNull(text({ max: 128 }), { description: 'Needed when the end user has more than one agent.' }),
    ),
  },
  { $id: 'MintTokenBody' },
);
export type MintTokenBody = Shape<typeof mintTokenBody>;

/** `PUT /api/v1/end-users/{external_id}/policy` and `PUT /api/v1/end-user-defaults` */
export const putPolicyBody = Type.Object({ policy }, { $id: 'PutPolicyBody' });
export type PutPolicyBody = Shape<typeof putPolicyBody>;
