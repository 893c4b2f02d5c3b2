import Type from 'typebox';
import { orNull } from '../../schema/index.js';
import { actionNamed } from './action.js';
import { optional, optionalOr, readEach, readMembers, required, schemaOf, type Form } from './member.js';
import { anyText, choice, name } from './plain-forms.js';
import { below, isObject, memberOf, type JsonObject, type Reading } from './reading.js';
import type { Step } from './step.js';
import { typedActions, typedActionSchema, type TypedAction } from './typed-actions.js';
import type { SafetyCheck, Unit } from './unit.js';

/** Most actions of a request, and of an item. */
export const MOST_ACTIONS = 100;

/** Actions that answer with what an item has no place for. */
const NOT_IN_AN_ITEM = ['zoom', 'cursor_position', 'clipboard_get'];

/** A `computer_call` item of OpenAI's Responses. */
export type ComputerCall = {
  readonly type: 'computer_call';
  readonly call_id: string;
  readonly status?: 'completed' | null;
  readonly pending_safety_checks?: readonly SafetyCheck[] | null;
} & (
  | { readonly action: TypedAction; readonly actions?: null }
  | { readonly action?: null; readonly actions: readonly TypedAction[] }
);

const checkMembers = { id: required(name), code: optional(anyText), message: optional(anyText) };

/** Safety checks, without what else they have. */
export const safetyChecks: Form<readonly SafetyCheck[], readonly SafetyCheck[]> = {
  schema: Type.Array(Type.Object(schemaOf(checkMembers).properties)),
  read: (value, path, reading) =>
    Array.isArray(value)
      ? readEach(value, path, reading, readCheck)
      : reading.refuse(path, 'must be a list of safety checks'),
};

const readCheck = (value: unknown, path: string, reading: Reading): SafetyCheck | undefined => {
  if (!isObject(value)) return reading.refuse(path, 'must be an object');
  const check = readMembers(checkMembers, value, path, reading, Object.keys(value));
  return check === undefined
    ? undefined
    : {
        id: check.id,
        ...(Object.hasOwn(value, 'code') ? { code: check.code ?? null } : {}),
        ...(Object.hasOwn(value, 'message') ? { message: check.message ?? null } : {}),
      };
};

const itemMembers = {
  call_id: required(name),
  status: optional(choice(['completed'])),
  pending_safety_checks: optionalOr([], safetyChecks),
};

export const computerCallSchema = Type.Object({
  ...schemaOf(itemMembers, { type: Type.Literal('computer_call') }).properties,
  action: Type.Optional(orNull(typedActionSchema)),
  actions: Type.Optional(orNull(Type.Array(typedActionSchema, { minItems: 1, maxItems: MOST_ACTIONS }))),
});

/** Steps of an action named by `type`. */
export const readTyped = (
  action: JsonObject,
  path: string,
  reading: Reading,
): readonly Step[] | undefined => {
  const named = actionNamed(typedActions, memberOf(action, 'type'));
  return named === undefined
    ? reading.refuse(below(path, 'type'), `must be one of ${Object.keys(typedActions).join(', ')}`)
    : named.steps(action, path, reading, ['type']);
};

const readItemAction = (value: unknown, path: string, reading: Reading): readonly Step[] | undefined => {
  if (!isObject(value)) return reading.refuse(path, 'must be an object');
  const type = memberOf(value, 'type');
  if (NOT_IN_AN_ITEM.some((one) => one === type))
    return reading.refuse(below(path, 'type'), 'has an answer for which a computer_call has no place');
  const steps = readTyped(value, path, reading);
  return type === 'screenshot' && steps !== undefined ? [] : steps;
};

export const readComputerCall = (item: JsonObject, path: string, reading: Reading): Unit | undefined => {
  const members = readMembers(itemMembers, item, path, reading, Object.keys(item));
  const actions = readActions(item, path, reading);
  if (members === undefined || actions === undefined) return undefined;
  return {
    type: 'computer_call',
    actions,
    vendor: { kind: 'computer_call', callId: members.call_id, checks: members.pending_safety_checks },
  };
};

const readActions = (
  item: JsonObject,
  path: string,
  reading: Reading,
): readonly (readonly Step[])[] | undefined => {
  const action = memberOf(item, 'action');
  const actions = memberOf(item, 'actions');
  if (action !== undefined && actions !== undefined)
    return reading.refuse(below(path, 'actions'), 'must not be given together with action');
  if (action !== undefined) {
    const steps = readItemAction(action, below(path, 'action'), reading);
    return steps === undefined ? undefined : [steps];
  }
  if (!Array.isArray(actions) || actions.length === 0 || actions.length > MOST_ACTIONS)
    return reading.refuse(below(path, 'actions'), `must be a list of 1 to ${MOST_ACTIONS} actions`);
  const all = actions.map((one, index) =>
    readItemAction(one, `${below(path, 'actions')}[${index}]`, reading),
  );
  return all.every((steps) => steps !== undefined) ? all : undefined;
};
