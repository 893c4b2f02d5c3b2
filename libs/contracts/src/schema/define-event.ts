import type { EventDefinition } from '@berth/kernel';
import type { Static, TSchema } from 'typebox';
import { Compile, type Validator } from 'typebox/compile';

/** Defines version 1 of a public event from the schema of its payload; `name` is in the past tense. */
export const defineEvent = <const Context extends string, Schema extends TSchema>(
  context: Context,
  name: string,
  payload: Schema,
): EventDefinition<Static<Schema>, Context> => {
  let validator: Validator | undefined;
  return {
    context,
    name,
    version: 1,
    accepts: (value): value is Static<Schema> => (validator ??= Compile(payload)).Check(value),
  };
};
