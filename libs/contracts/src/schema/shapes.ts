import type { Static, TSchema } from 'typebox';

/** The read-only type of a value that the schema accepts. */
export type Shape<Schema extends TSchema> = Frozen<Static<Schema>>;

type Frozen<Value> = Value extends string | number | boolean | null | undefined
  ? Value
  : Value extends readonly (infer Item)[]
    ? readonly Frozen<Item>[]
    : { readonly [Member in keyof Value]: Frozen<Value[Member]> };

/** The members of a request in a message to a service: a member that the caller leaves out is null. */
export type NullWhenAbsent<Members> = {
  readonly [Member in keyof Members]-?: object extends Pick<Members, Member>
    ? Exclude<Members[Member], undefined> | null
    : Members[Member];
};
