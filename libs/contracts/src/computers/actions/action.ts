import Type, { type TObject, type TSchema } from 'typebox';
import { readMembers, schemaOf, type AnyMembers, type InputsOf, type ValuesOf } from './member.js';
import type { JsonObject, Reading } from './reading.js';
import type { Screen } from './screen.js';
import type { Step } from './step.js';

/** An action: its members, and what a desktop does for it. */
export interface Action<Input = unknown> {
  /** Describes it with further members, such as its name. */
  readonly schema: (others: Readonly<Record<string, TSchema>>) => TObject;
  /** Undefined if a member was refused. `ignored` are members of the object that are not the action's. */
  readonly steps: (
    object: JsonObject,
    path: string,
    reading: Reading,
    ignored?: readonly string[],
  ) => readonly Step[] | undefined;
  /** Never there: it carries the type. */
  readonly input?: Input;
}

export const action = <Members extends AnyMembers>(
  members: Members,
  toSteps: (values: ValuesOf<Members>, screen: Screen) => readonly Step[],
): Action<InputsOf<Members>> => ({
  schema: (others) => schemaOf(members, others),
  steps: (object, path, reading, ignored) => {
    const values = readMembers(members, object, path, reading, ignored);
    return values === undefined ? undefined : toSteps(values, reading.screen);
  },
});

export type Actions = Readonly<Record<string, Action>>;

/** What a caller sends as one of these actions, with its name as the member `Discriminator`. */
export type ActionInput<Table extends Actions, Discriminator extends string> = {
  [Name in keyof Table & string]: { readonly [Member in Discriminator]: Name } & InputOf<Table[Name]>;
}[keyof Table & string];

/** What a caller sends as the members of an action. */
export type InputOf<One> = One extends Action<infer Input> ? Input : never;

/** The action of a name, which may be any text. */
export const actionNamed = (actions: Actions, name: unknown): Action | undefined =>
  typeof name === 'string' && Object.hasOwn(actions, name) ? actions[name] : undefined;

/** The schema of one of these actions, with its name as the member `discriminator`. */
export const schemaOfAny = (actions: Actions, discriminator: string, $id: string): TSchema =>
  Type.Union(
    Object.entries(actions).map(([name, { schema }]) => schema({ [discriminator]: Type.Literal(name) })),
    { $id },
  );
