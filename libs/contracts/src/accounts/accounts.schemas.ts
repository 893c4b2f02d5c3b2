import Type from 'typebox';
import { isoTime, oneOf, orNull, text, withMessage, type Shape } from '../schema/index.js';
import { SCOPES } from './scopes.js';

const scopes = withMessage(
  Type.Array(oneOf(SCOPES), {
    uniqueItems: true,
    description:
      'The scopes of the new key. The key that sends the request must hold them too. Every key has `read`.',
  }),
  `must be a list of different scopes out of ${SCOPES.join(', ')}`,
);

/** `POST /api/v1/keys`. The service also refuses an `expiresAt` in the past. */
export const mintKeyBody = Type.Object(
  {
    name: text(
      { max: 128, pattern: /^\P{Cc}+$/u, means: 'must not contain control characters' },
      { description: 'The purpose of the key.' },
    ),
    scopes,
    expiresAt: Type.Optional(
      orNull(isoTime(), { description: 'When the key expires; if absent or null, never.' }),
    ),
  },
  { $id: 'MintKeyBody' },
);
export type MintKeyBody = Shape<typeof mintKeyBody>;

const accountName = text({
  max: 128,
  pattern: /^\P{Cc}+$/u,
  means: 'must not contain control characters',
});

const planId = text({ max: 128 }, { description: 'The id of a plan.' });

/** `POST /api/v1/operations/accounts`. Without `planId` the account gets the plan `default`. */
export const openAccountBody = Type.Object(
  { name: accountName, planId: Type.Optional(planId) },
  { $id: 'OpenAccountBody' },
);
export type OpenAccountBody = Shape<typeof openAccountBody>;

/** `PUT /api/v1/operations/accounts/{id}`. Members left out stay as they are. */
export const updateAccountBody = Type.Object(
  {
    name: Type.Optional(accountName),
    planId: Type.Optional(planId),
    suspended: Type.Optional(
      Type.Boolean({
        description: 'While true, credentials of the account are rejected and its agents sleep.',
      }),
    ),
  },
  { $id: 'UpdateAccountBody' },
);
export type UpdateAccountBody = Shape<typeof updateAccountBody>;
