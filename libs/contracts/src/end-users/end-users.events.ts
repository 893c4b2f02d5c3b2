import Type, { type Static } from 'typebox';
import { defineEvent } from '../schema/define-event.js';

const AboutEndUser = Type.Object({
  accountId: Type.String(),
  endUserId: Type.String(),
  at: Type.String({ description: 'ISO 8601.' }),
});

/** Payload of every event about an end user. It holds no personal data. */
export type EndUserEventPayload = Readonly<Static<typeof AboutEndUser>>;

/** The events of `end-users`: `evt.end-users.<name>.v1.<account>.<end user>`. */
export const endUsersEvents = {
  created: defineEvent('end-users', 'created', AboutEndUser),
  updated: defineEvent('end-users', 'updated', AboutEndUser),
  suspended: defineEvent('end-users', 'suspended', AboutEndUser),
  resumed: defineEvent('end-users', 'resumed', AboutEndUser),
  deleted: defineEvent('end-users', 'deleted', AboutEndUser),
};
