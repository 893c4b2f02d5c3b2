import Type, { type TSchema } from 'typebox';

/** An object without members that are not declared. */
export const section = <Members extends Record<string, TSchema>>(members: Members, description?: string) =>
  Type.Object(members, {
    additionalProperties: false,
    ...(description === undefined ? {} : { description }),
  });
