import Type from 'typebox';
import { isoTime, oneOf, orNull, text, withMessage, type Shape } from '../schema/index.js';
import { SCOPES } from './scopes.js';

const scopes = withMessage(
  Type.Array(oneOf(SCOPES), {
    uniqueItems: true,
    description: 'Scopes that the minting key holds itself. Every key has `read`.',
  }),
  `must be a list of different scopes out of ${SCOPES.join(', ')}`,
);

/** `POST /api/v1/keys`. The service also refuses an `expiresAt` that is over. */
export const mintKeyBody = Type.Object(
  {
    name: text(
      { max: 128, pattern: /^\P{Cc}+$/u, means: 'must not hold control characters' },
      { description: 'The purpose of the key.' },
    ),
    scopes,
    expiresAt: Type.Optional(
      orNull(isoTime(), { description: 'From when on the key is dead; never, when left out.' }),
    ),
  },
  { $id: 'MintKeyBody' },
);
export type MintKeyBody = Shape<typeof mintKeyBody>;
