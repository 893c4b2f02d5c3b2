import type { Static, TSchema } from 'typebox';

/** What a valid request holds. */
export type Shape<Schema extends TSchema> = Frozen<Static<Schema>>;

type Frozen<Value> = Value extends string | number | boolean | null | undefined
  ? Value
  : Value extends readonly (infer Item)[]
    ? readonly Frozen<Item>[]
    : { readonly [Member in keyof Value]: Frozen<Value[Member]> };

/** The members of a request as a message to a service carries them: one that the caller leaves out is null. */
export type NullWhenAbsent<Members> = {
  readonly [Member in keyof Members]-?: object extends Pick<Members, Member>
    ? Exclude<Members[Member], undefined> | null
    : Members[Member];
};
