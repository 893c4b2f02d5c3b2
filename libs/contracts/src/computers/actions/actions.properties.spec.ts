import fc from 'fast-check';
import { Compile } from 'typebox/compile';
import { describe, expect, it } from 'vitest';
import { actionsBody } from './actions.schemas.js';
import { chordOf, textChordOf } from './keys.js';
import type { ActionPlan } from './action-plan.js';
import { planActions } from './plan-actions.js';
import { DISPLAY, pathsOf } from './refusals.fixture.js';
import type { Screen } from './screen.js';
import type { Point, Step } from './step.js';
import { ANTHROPIC_FORMS, namedMembers, screens, validActions } from './valid-actions.fixture.js';

const described = Compile(actionsBody);

const bodyOf = ({ scale }: Screen, action: object) => ({ actions: [action], scale });

const stepsOf = (screen: Screen, action: object): readonly Step[] =>
  planActions(bodyOf(screen, action), screen.display).units.flatMap(({ actions }) => actions.flat());

const isOnDisplay = ({ screen: { display } }: ActionPlan, step: Step): boolean => {
  const has = ({ x, y }: Point) => x < display.width && y < display.height && x >= 0 && y >= 0;
  if (step.do === 'move') return has(step);
  if (step.do === 'drag') return [step.from, ...step.to].every((point) => point === null || has(point));
  if (step.do !== 'zoom') return true;
  const { x, y, width, height } = step.region;
  return x >= 0 && y >= 0 && x + width <= display.width && y + height <= display.height;
};

/** In these `keys` and `text` are something else. */
const HOLDING_NONE = ['key', 'keypress', 'type', 'clipboard_set'];

/** The keys that an action is to hold, by its members. */
const heldKeysOf = (name: string, input: object): readonly number[] => {
  if (HOLDING_NONE.includes(name)) return [];
  const { keys, modifiers, text } = input as {
    readonly [Name in 'keys' | 'modifiers']?: readonly string[] | null;
  } & { readonly text?: string | null };
  const chords = [
    ...(keys ?? modifiers ?? []).map(chordOf),
    ...(typeof text === 'string' ? [textChordOf(text)] : []),
  ];
  return [...new Set(chords.flatMap((chord) => ('unknown' in chord ? [] : chord)))];
};

/** The action with other members, in the same form. */
const withMembers = (action: object, path: string, change: (members: object) => object): object => {
  const [name, ...others] = path.split('.').filter((part) => part !== '');
  if (name === undefined) return change(action);
  const member = name.replace('[0]', '');
  const inner = (action as Record<string, object>)[member] ?? {};
  const next = others.join('.');
  return {
    ...action,
    [member]: Array.isArray(inner)
      ? [withMembers(inner[0] as object, next, change)]
      : withMembers(inner, next, change),
  };
};

describe('any valid action of any form', () => {
  it('has a plan, all of it on the display, and is one that the description of the body allows', () => {
    fc.assert(
      fc.property(validActions, ({ screen, action }) => {
        const body = bodyOf(screen, action);
        const plan = planActions(body, screen.display);
        const steps = plan.units.flatMap(({ actions }) => actions.flat());
        expect(steps.filter((step) => !isOnDisplay(plan, step))).toEqual([]);
        expect([body, described.Check(body)]).toEqual([body, true]);
      }),
    );
  });

  it('holds the keys that it names meanwhile, and lets them go at its end', () => {
    fc.assert(
      fc.property(validActions, ({ screen, name, input, action }) => {
        fc.pre(name !== 'key_down' && name !== 'key_up');
        const steps = stepsOf(screen, action);
        const keys = heldKeysOf(name, input);
        const holding = steps.filter((step) => step.do === 'keys_down' || step.do === 'keys_up');
        expect(holding).toEqual(
          keys.length === 0
            ? []
            : [
                { do: 'keys_down', keys },
                { do: 'keys_up', keys },
              ],
        );
        if (keys.length > 0) expect([steps[0], steps.at(-1)]).toEqual(holding);
      }),
    );
  });

  it('means the same with its nulls left out', () => {
    fc.assert(
      fc.property(validActions, ({ screen, action, path }) => {
        const without = withMembers(action, path, (members) =>
          Object.fromEntries(Object.entries(members).filter(([, value]) => value !== null)),
        );
        expect(stepsOf(screen, without)).toEqual(stepsOf(screen, action));
      }),
    );
  });

  it('is refused with the path of a member that it does not have', () => {
    const wrong = fc.constantFrom('txt', 'Keys', 'coordinates', 'delay', 'toString', 'X', 'modifier');
    fc.assert(
      fc.property(validActions, wrong, ({ screen, action, path }, member) => {
        const misspelt = withMembers(action, path, (members) => ({ ...members, [member]: 1 }));
        expect(pathsOf(bodyOf(screen, misspelt), screen.display)).toEqual([`actions[0].${path}${member}`]);
        expect(described.Check(bodyOf(screen, misspelt))).toBe(false);
      }),
    );
  });

  it('is refused with the path of each member that is of another kind', () => {
    fc.assert(
      fc.property(validActions, ({ screen, action, input, path }) => {
        const names = Object.entries(input).flatMap(([name, value]) => (value === null ? [] : [name]));
        fc.pre(names.length > 0);
        const wrong = withMembers(action, path, (members) => ({
          ...members,
          ...Object.fromEntries(names.map((name) => [name, { not: 'this' }])),
        }));
        expect([...pathsOf(bodyOf(screen, wrong), screen.display)].sort()).toEqual(
          names.map((name) => `actions[0].${path}${name}`).sort(),
        );
      }),
    );
  });
});

describe('any safety checks of an item', () => {
  it('are as OpenAI describes them, and come back as they were sent', () => {
    const text = fc.option(fc.string(), { nil: null });
    const check = fc.record(
      { id: fc.string({ minLength: 1 }), code: text, message: text },
      { requiredKeys: ['id'], noNullPrototype: true },
    );
    fc.assert(
      fc.property(fc.array(check, { maxLength: 3 }), (checks) => {
        const item = { type: 'computer_call', call_id: 'call_1', action: { type: 'wait' } };
        const body = {
          actions: [{ ...item, pending_safety_checks: checks }],
          acknowledged_safety_checks: checks,
        };
        const [unit] = planActions(body, DISPLAY).units;
        expect(unit?.vendor).toEqual({ kind: 'computer_call', callId: 'call_1', checks });
        expect(described.Check(body)).toBe(true);
      }),
    );
  });

  it.each([{}, { id: '' }, { id: 1 }, { id: 'sc_1', code: 1 }, { id: 'sc_1', message: ['x'] }, 'sc_1'])(
    'are refused, by the description too, if one is %j',
    (check) => {
      const body = { actions: [{ type: 'wait' }], acknowledged_safety_checks: [check] };
      expect(pathsOf(body)).toEqual([expect.stringContaining('acknowledged_safety_checks[0]')]);
      expect(described.Check(body)).toBe(false);
    },
  );
});

describe("Anthropic's three forms of an action", () => {
  it('have the same steps', () => {
    const actions = screens.chain((screen) =>
      fc
        .constantFrom(...Object.entries<fc.Arbitrary<object>>(namedMembers(screen)))
        .chain(([name, inputs]) => inputs.map((input) => ({ screen, name, input }))),
    );
    fc.assert(
      fc.property(actions, ({ screen, name, input }) => {
        const [bare, tool, toolset] = Object.values(ANTHROPIC_FORMS).map(({ of }) =>
          stepsOf(screen, of(name, input)),
        );
        expect(tool).toEqual(bare);
        expect(toolset).toEqual(bare);
      }),
    );
  });
});
