import Type, { type TObject, type TSchema } from 'typebox';
import { orNull } from '../../schema/index.js';
import { below, memberOf, type JsonObject, type Reading } from './reading.js';

/** Reads a value of a request. Undefined if it was refused. */
export type Read<Value> = (value: unknown, path: string, reading: Reading) => Value | undefined;

/** A value that callers send as `Input` and that actions use as `Value`. */
export interface Form<Input, Value> {
  /** Describes it in the OpenAPI document. */
  readonly schema: TSchema;
  readonly read: Read<Value>;
  /** Never there: it carries the type. */
  readonly input?: Input;
}

/** A member of an action. */
export interface Member<
  Input,
  Value,
  Presence extends 'required' | 'optional',
  Alias extends string = never,
> extends Form<Input, Value> {
  readonly presence: Presence;
  /** What an optional member is read from if it is left out; undefined if it then has no value. */
  readonly ifLeftOut?: Input | undefined;
  /** Its other name. */
  readonly alias?: Alias;
}

export type AnyMember = Member<unknown, unknown, 'required' | 'optional', string>;
export type AnyMembers = Readonly<Record<string, AnyMember>>;

export const required = <Input, Value>(form: Form<Input, Value>): Member<Input, Value, 'required'> => ({
  ...form,
  presence: 'required',
});

export const optional = <Input, Value>(
  form: Form<Input, Value>,
): Member<Input, Value | undefined, 'optional'> => ({ ...form, presence: 'optional' });

export const optionalOr = <Input, Value>(
  ifLeftOut: NoInfer<Input>,
  form: Form<Input, Value>,
): Member<Input, Value, 'optional'> => ({ ...form, presence: 'optional', ifLeftOut });

/** An optional member that has another name too. */
export const aliased = <Input, Value, const Alias extends string>(
  alias: Alias,
  member: Member<Input, Value, 'optional'>,
): Member<Input, Value, 'optional', Alias> => ({ ...member, alias });

/** The values that the members of a valid object have. */
export type ValuesOf<Members> = {
  readonly [Name in keyof Members]: Members[Name] extends Form<infer _Input, infer Value> ? Value : never;
};

type RequiredNames<Members> = {
  [Name in keyof Members]: Members[Name] extends { readonly presence: 'required' } ? Name : never;
}[keyof Members];

type InputOf<One> = One extends { readonly input?: infer Input } ? NonNullable<Input> : never;

type AliasesOf<Members> = {
  [Name in keyof Members]: Members[Name] extends { readonly alias?: infer Alias extends string }
    ? Alias
    : never;
}[keyof Members];

/** What a caller may send as the members. */
export type InputsOf<Members> = {
  readonly [Name in RequiredNames<Members>]: InputOf<Members[Name]>;
} & {
  readonly [Name in Exclude<keyof Members, RequiredNames<Members>>]?: InputOf<Members[Name]> | null;
} & {
  readonly [Alias in AliasesOf<Members>]?: InputOf<
    {
      [Name in keyof Members]: Members[Name] extends { readonly alias?: Alias } ? Members[Name] : never;
    }[keyof Members]
  > | null;
};

/** The schema of an object of these members, and of `others`, which are required. */
export const schemaOf = (members: AnyMembers, others: Readonly<Record<string, TSchema>> = {}): TObject => {
  const properties = Object.entries(members).flatMap(([name, { schema, presence, alias }]) => {
    if (presence === 'required') return [[name, schema] as const];
    const names = alias === undefined ? [name] : [name, alias];
    return names.map((one) => [one, Type.Optional(orNull(schema))] as const);
  });
  return Type.Object({ ...others, ...Object.fromEntries(properties) }, { additionalProperties: false });
};

/** Reads all members of an object and refuses others, but for those named in `ignored`. Undefined if any is refused. */
export const readMembers = <Members extends AnyMembers>(
  members: Members,
  object: JsonObject,
  path: string,
  reading: Reading,
  ignored: readonly string[] = [],
): ValuesOf<Members> | undefined => {
  const before = reading.problems.length;
  const known = Object.entries(members).flatMap(([name, { alias }]) =>
    alias === undefined ? [name] : [name, alias],
  );
  const values = Object.entries(members).map(
    ([name, member]) => [name, readMember(name, member, object, path, reading)] as const,
  );
  reading.refuseOthers(object, [...known, ...ignored], path);
  return reading.problems.length > before ? undefined : (Object.fromEntries(values) as ValuesOf<Members>);
};

const readMember = (
  name: string,
  member: AnyMember,
  object: JsonObject,
  path: string,
  reading: Reading,
): unknown => {
  const { alias } = member;
  const value = memberOf(object, name);
  const other = alias === undefined ? undefined : memberOf(object, alias);
  if (alias !== undefined && value !== undefined && other !== undefined)
    return reading.refuse(below(path, alias), `is another name of ${name}: only one of them may be given`);
  const given = value ?? other ?? member.ifLeftOut;
  if (given !== undefined)
    return member.read(
      given,
      below(path, value === undefined && other !== undefined ? (alias ?? name) : name),
      reading,
    );
  return member.presence === 'required' ? reading.refuse(below(path, name), 'is required') : undefined;
};

/** Reads the items of a list. Undefined, and one problem, if any is refused. */
export const readEach = <Value>(
  values: readonly unknown[],
  path: string,
  reading: Reading,
  read: Read<Value>,
): readonly Value[] | undefined => {
  const before = reading.problems.length;
  const all: Value[] = [];
  for (const [index, value] of values.entries()) {
    const one = read(value, `${path}[${index}]`, reading);
    if (one === undefined || reading.problems.length > before) return undefined;
    all.push(one);
  }
  return all;
};
