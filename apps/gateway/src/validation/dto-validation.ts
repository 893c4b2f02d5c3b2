import { getMetadataStorage, validateSync } from 'class-validator';
import type { FieldProblem } from '../http/http-refusal.js';
import { nestedRulesOf, queryKindsOf, type NestedRule, type QueryKind } from './nested-rules.js';

/** A class whose members carry class-validator decorators. */
export type DtoClass<Dto extends object = object> = new () => Dto;

/** An instance and its problems; valid only if there are no problems. */
export interface Filled<Dto> {
  readonly dto: Dto;
  readonly problems: readonly FieldProblem[];
}

/**
 * Makes a checked instance of `type` from a JSON body. Unknown members are left out, values keep their types, a missing
 * body counts as `{}`.
 */
export const fillFromBody = <Dto extends object>(type: DtoClass<Dto>, body: unknown): Filled<Dto> => {
  const plain = body === undefined ? {} : body;
  if (isPlainObject(plain)) return fill(type, plain);
  return { dto: new type(), problems: [{ path: '', message: 'The body must be a JSON object.' }] };
};

/** The same for a parsed query string, whose members are converted to the declared types. */
export const fillFromQuery = <Dto extends object>(type: DtoClass<Dto>, query: unknown): Filled<Dto> => {
  const plain: Record<string, unknown> = isPlainObject(query) ? { ...query } : {};
  for (const [member, kind] of rulesOf(type).queryKinds) {
    if (plain[member] !== undefined) plain[member] = convert(kind, plain[member]);
  }
  return fill(type, plain);
};

/** Checks `plain` against `type`; paths of problems lie below `path`. */
export const fill = <Dto extends object>(
  type: DtoClass<Dto>,
  plain: Readonly<Record<string, unknown>>,
  path = '',
): Filled<Dto> => {
  const dto = new type();
  const { members, nested } = rulesOf(type);
  for (const member of members) {
    if (Object.hasOwn(plain, member) && plain[member] !== undefined) Reflect.set(dto, member, plain[member]);
  }
  const problems = ownProblems(dto, path);
  const bad = new Set(problems.map((problem) => problem.path));
  for (const [member, rule] of nested) {
    const value: unknown = Reflect.get(dto, member);
    if (value === undefined || value === null || bad.has(path + member)) continue;
    const checked = rule(value, path + member);
    Reflect.set(dto, member, checked.value);
    problems.push(...checked.problems);
  }
  return { dto, problems };
};

const ownProblems = (dto: object, path: string): FieldProblem[] =>
  validateSync(dto, { stopAtFirstError: true, forbidUnknownValues: false }).map(
    ({ property, constraints }) => ({
      path: path + property,
      message: Object.values(constraints ?? {})[0] ?? 'is not valid',
    }),
  );

/** Whether `value` came from a JSON object. */
export const isPlainObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

interface ClassRules {
  readonly members: readonly string[];
  readonly nested: ReadonlyMap<string, NestedRule>;
  readonly queryKinds: ReadonlyMap<string, QueryKind>;
}

const known = new WeakMap<DtoClass, ClassRules>();

const rulesOf = (type: DtoClass): ClassRules => {
  let rules = known.get(type);
  if (rules === undefined) {
    const own = getMetadataStorage().getTargetValidationMetadatas(type, '', false, false);
    const nested = nestedRulesOf(type);
    const members = [...new Set([...own.map((rule) => rule.propertyName), ...nested.keys()])];
    rules = { members, nested, queryKinds: queryKindsOf(type) };
    known.set(type, rules);
  }
  return rules;
};

/** Leaves a text that cannot be converted unchanged, so that the rule of the member rejects it. */
const convert = (kind: QueryKind, value: unknown): unknown => {
  if (typeof value !== 'string') return value;
  if (kind === 'integer') return /^-?\d{1,15}$/.test(value) ? Number(value) : value;
  if (value === 'true') return true;
  return value === 'false' ? false : value;
};
