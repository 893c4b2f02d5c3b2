import type { FieldProblem } from '../http/http-refusal.js';

/** Validates a member's value: returns the converted value and every problem below `path`. */
export type NestedRule = (
  value: unknown,
  path: string,
) => { readonly value: unknown; readonly problems: readonly FieldProblem[] };

export type QueryKind = 'integer' | 'boolean';

const nestedRules = new WeakMap<object, Map<string, NestedRule>>();
const queryKinds = new WeakMap<object, Map<string, QueryKind>>();

const register = <Value>(store: WeakMap<object, Map<string, Value>>, value: Value): PropertyDecorator => {
  return (prototype, member) => {
    const type = prototype.constructor;
    const known = store.get(type) ?? new Map<string, Value>();
    store.set(type, known.set(String(member), value));
  };
};

/** The rules of a class and the classes it extends. */
const inherited = <Value>(
  store: WeakMap<object, Map<string, Value>>,
  type: object,
): ReadonlyMap<string, Value> => {
  const found = new Map<string, Value>();
  for (
    let at: unknown = type;
    typeof at === 'function' && at !== Function.prototype;
    at = Object.getPrototypeOf(at)
  ) {
    for (const [member, value] of store.get(at) ?? []) if (!found.has(member)) found.set(member, value);
  }
  return found;
};

/** A rule that sees inside the value and names the bad member below it. Runs when the member's own rules passed. */
export const Inside = (rule: NestedRule): PropertyDecorator => register(nestedRules, rule);

/** A query member that is a number or a boolean; everything in a query string is text. */
export const FromQuery = (kind: QueryKind): PropertyDecorator => register(queryKinds, kind);

export const nestedRulesOf = (type: object): ReadonlyMap<string, NestedRule> => inherited(nestedRules, type);

export const queryKindsOf = (type: object): ReadonlyMap<string, QueryKind> => inherited(queryKinds, type);
