import { DomainError } from '@berth/kernel';
import type { ActionPlan } from './action-plan.js';
import { actionNamed } from './action.js';
import { MOST_ACTIONS, readComputerCall, readTyped, safetyChecks } from './computer-call.js';
import { optionalOr, readMembers, type ValuesOf } from './member.js';
import { MUST_BE_NAMED, namedActions } from './named-actions.js';
import { flag, isScale, scaleFactor } from './plain-forms.js';
import {
  below,
  isGiven,
  isObject,
  memberOf,
  Reading,
  type FieldProblem,
  type JsonObject,
} from './reading.js';
import { refusalOutputs, type SentAction } from './refusal-outputs.js';
import { screenOf } from './screen.js';
import type { Size, Step } from './step.js';
import { readToolUse } from './tool-use.js';
import type { SafetyCheck, Unit } from './unit.js';

export const batchMembers = {
  screenshot: optionalOr(false, flag),
  scale: optionalOr(1, scaleFactor),
  stopOnError: optionalOr(true, flag),
  acknowledged_safety_checks: optionalOr([], safetyChecks),
};

/**
 * What to do on a display for the body of a request. Throws invalid `invalid_action` with the context `fields` and
 * `outputs`, and conflict `safety_check_pending` with `pending_safety_checks`: nothing is to be done then.
 */
export const planActions = (body: unknown, display: Size): ActionPlan => {
  const sent = sentActions(body);
  const reading = new Reading(screenOf(display, scaleOf(sent)));
  const options = readMembers(batchMembers, sent.batch ?? {}, '', reading, ['actions']);
  const units = readUnits(sent, reading);
  if (options === undefined || reading.problems.length > 0) throw invalidAction(sent, reading.problems);
  return planOf(units, options, reading);
};

interface SentActions {
  readonly actions: readonly SentAction[];
  /** Undefined for one bare action. */
  readonly batch: JsonObject | undefined;
}

const sentActions = (body: unknown): SentActions => {
  if (!isObject(body) || isGiven(body, 'type') || isGiven(body, 'action'))
    return { actions: [{ value: body, path: '' }], batch: undefined };
  const actions = memberOf(body, 'actions');
  return {
    actions: Array.isArray(actions)
      ? actions.map((value: unknown, index) => ({ value, path: `actions[${index}]` }))
      : [],
    batch: body,
  };
};

/** 1 if it is wrong: the other problems are then those that every scale has, as no screen is larger than the display. */
const scaleOf = ({ batch = {} }: SentActions): number => {
  const scale = memberOf(batch, 'scale');
  return isScale(scale) ? scale : 1;
};

/** The units that could be read; none if there are too many actions. */
const readUnits = ({ actions, batch }: SentActions, reading: Reading): readonly Unit[] => {
  const count = actions.reduce((sum, { value }) => sum + countOf(value), 0);
  if (batch === undefined || (count > 0 && count <= MOST_ACTIONS))
    return actions.flatMap(({ value, path }) => readUnit(value, path, reading) ?? []);
  reading.refuse('actions', `must be a list of 1 to ${MOST_ACTIONS} actions, those inside items included`);
  return [];
};

/** How many actions count towards the limit. */
const countOf = (value: unknown): number => {
  if (!isObject(value) || memberOf(value, 'type') !== 'computer_call') return 1;
  const actions = memberOf(value, 'actions');
  return Array.isArray(actions) ? Math.max(1, actions.length) : 1;
};

const FORMS = { tool_use: readToolUse, computer_call: readComputerCall } as const;

const readUnit = (value: unknown, path: string, reading: Reading): Unit | undefined => {
  if (!isObject(value)) return reading.refuse(path, 'must be an object');
  const type = memberOf(value, 'type');
  if (type === 'tool_use' || type === 'computer_call') return FORMS[type](value, path, reading);
  if (type !== undefined || !isGiven(value, 'action')) return bare(type, readTyped(value, path, reading));
  const name = memberOf(value, 'action');
  const named = actionNamed(namedActions, name);
  return named === undefined
    ? reading.refuse(below(path, 'action'), MUST_BE_NAMED)
    : bare(name, named.steps(value, path, reading, ['action']));
};

const bare = (type: unknown, steps: readonly Step[] | undefined): Unit | undefined =>
  steps === undefined || typeof type !== 'string'
    ? undefined
    : { type, actions: [steps], vendor: { kind: 'none' } };

const invalidAction = (sent: SentActions, fields: readonly FieldProblem[]): DomainError =>
  new DomainError('invalid', 'invalid_action', 'Nothing was done: correct the members named in fields.', {
    fields,
    outputs: refusalOutputs(sent.actions, fields),
  });

type Options = ValuesOf<typeof batchMembers>;

const planOf = (units: readonly Unit[], options: Options, { screen, waited }: Reading): ActionPlan => {
  refusePending(units, options.acknowledged_safety_checks);
  return {
    units,
    stopOnError: options.stopOnError,
    screenshot: options.screenshot,
    screen,
    waitMs: waited,
  };
};

/** Throws if a check of an item is not acknowledged. All pending ones are told, so that all can be sent back. */
const refusePending = (units: readonly Unit[], acknowledged: readonly SafetyCheck[]): void => {
  const pending = units.flatMap(({ vendor }) => (vendor.kind === 'computer_call' ? vendor.checks : []));
  const known = new Set(acknowledged.map(({ id }) => id));
  if (pending.every(({ id }) => known.has(id))) return;
  throw new DomainError(
    'conflict',
    'safety_check_pending',
    'Nothing was done: let a person decide on pending_safety_checks, and name them in acknowledged_safety_checks.',
    { pending_safety_checks: pending },
  );
};
