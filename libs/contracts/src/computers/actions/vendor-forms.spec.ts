import { describe, expect, it } from 'vitest';
import { planActions } from './plan-actions.js';
import { DISPLAY, pathsOf, refusalOf } from './refusals.fixture.js';
import { itemSession, toolsetSession, toolSession } from './sessions.fixture.js';
import { hasClosingImage } from './unit.js';

const SKIPPED = 'Not executed: an earlier computer action in this turn failed.';

const block = { type: 'tool_use', id: 'toolu_1' };
const wait = { type: 'wait', ms: 0 };

const INVALID_BLOCKS = [
  [{ ...block, name: 'computer', input: {} }, ['input.action']],
  [{ ...block, name: 'computer', input: { action: 'click' } }, ['input.action']],
  [{ ...block, name: 'computer', input: { action: 'type', text: 1 } }, ['input.text']],
  [{ ...block, name: 'computer', input: { action: 'wait', duration: 1, ms: 1 } }, ['input.ms']],
  [{ ...block, name: 'computer', input: 'screenshot' }, ['input']],
  [{ ...block, name: 'bash', input: { command: 'ls' } }, ['name']],
  [{ ...block, name: 'left_click', input: { coordinate: [1, 2] } }, ['toolset_name']],
  [{ ...block, name: 'left_click', input: {}, toolset_name: 'browser' }, ['toolset_name']],
  [{ ...block, name: 'navigate', input: {}, toolset_name: 'computer' }, ['name']],
  [{ ...block, name: 'computer', input: { action: 'screenshot' }, toolset_name: 'computer' }, ['name']],
  [
    { ...block, name: 'left_click', input: { action: 'left_click' }, toolset_name: 'computer' },
    ['input.action'],
  ],
  [{ type: 'tool_use', name: 'screenshot', input: {}, toolset_name: 'computer' }, ['id']],
] as const;

const INVALID_ITEMS = [
  [{ call_id: 'c' }, ['actions']],
  [{ call_id: 'c', actions: [] }, ['actions']],
  [{ call_id: 'c', actions: Array.from({ length: 101 }, () => wait) }, ['actions']],
  [{ call_id: 'c', action: wait, actions: [wait] }, ['actions']],
  [{ action: wait }, ['call_id']],
  [{ call_id: 'c', action: wait, status: 'in_progress' }, ['status']],
  [{ call_id: 'c', action: wait, pending_safety_checks: [{ code: 'x' }] }, ['pending_safety_checks[0].id']],
  [{ call_id: 'c', action: { type: 'click', x: 1, y: 800, button: 'left' } }, ['action.y']],
  [{ call_id: 'c', actions: [wait, { type: 'click', x: -1, y: 8 }, 'wait'] }, ['actions[1].x', 'actions[2]']],
  [{ call_id: 'c', actions: [{ action: 'left_click' }] }, ['actions[0].type']],
  [{ call_id: 'c', actions: [{ type: 'clipboard_get' }] }, ['actions[0].type']],
] as const;

describe('sessions in the forms of both vendors', () => {
  it.each([
    ['the older tool', toolSession],
    ['the toolset', toolsetSession],
    ['OpenAI', itemSession],
  ])('are planned as the models send them: %s', (_, session) => {
    const plan = planActions({ actions: session }, DISPLAY);
    expect(plan.units).toHaveLength(session.length);
    expect(plan.units.flatMap(({ vendor }) => (vendor.kind === 'none' ? [vendor] : []))).toEqual([]);
  });

  it('may be mixed in one batch, with a result for each action, block and item', () => {
    const { units } = planActions(
      { actions: [wait, { action: 'key', text: 'a' }, toolSession[1], toolsetSession[6], itemSession[1]] },
      DISPLAY,
    );
    expect(units.map(({ type }) => type)).toEqual(['wait', 'key', 'left_click', 'type', 'computer_call']);
    expect(units.at(-1)?.actions).toHaveLength(7);
    expect(units.map(hasClosingImage)).toEqual([false, false, false, false, true]);
  });
});

describe('a tool_use block', () => {
  it.each(INVALID_BLOCKS)('%j is refused with the paths %j', (sent, paths) => {
    expect(pathsOf(sent)).toEqual(paths);
    expect(pathsOf({ actions: [wait, sent] })).toEqual(paths.map((path) => `actions[1].${path}`));
  });

  it('that is not valid is answered with what is wrong with it, and the others as not tried', () => {
    const toolset = { ...block, toolset_name: 'computer' };
    const { code, kind, context } = refusalOf({
      actions: [
        { ...toolset, id: 'toolu_1', name: 'screenshot', input: {} },
        wait,
        { ...toolset, id: 'toolu_2', name: 'left_click', input: { coordinate: [1_280, 0], txt: 'a' } },
        { ...block, id: 'toolu_3', name: 'computer', input: { action: 'key', text: 'Retrun' } },
        { ...block, id: 7, name: 'computer', input: { action: 'screenshot' } },
      ],
    });
    expect([kind, code]).toEqual(['invalid', 'invalid_action']);
    expect(context['fields']).toEqual([
      { path: 'actions[2].input.coordinate', message: 'must be inside the screen of 1280 x 800 pixels' },
      { path: 'actions[2].input.txt', message: 'is not a known member' },
      { path: 'actions[3].input.text', message: 'has an unknown key: "Retrun"' },
      { path: 'actions[4].id', message: 'must be a text that is not empty' },
    ]);
    const failed = (id: string, text: string, member = {}) => ({
      type: 'tool_result',
      tool_use_id: id,
      ...member,
      content: [{ type: 'text', text }],
      is_error: true,
    });
    const ofToolset = { toolset_name: 'computer' };
    expect(context['outputs']).toEqual([
      failed('toolu_1', SKIPPED, ofToolset),
      failed(
        'toolu_2',
        'input.coordinate must be inside the screen of 1280 x 800 pixels; input.txt is not a known member',
        ofToolset,
      ),
      failed('toolu_3', 'input.text has an unknown key: "Retrun"'),
    ]);
  });

  it('alone in the body is answered too', () => {
    const { context } = refusalOf({ ...block, name: 'computer', input: { action: 'type' } });
    expect(context['outputs']).toMatchObject([
      { tool_use_id: 'toolu_1', content: [{ type: 'text', text: 'input.text is required' }] },
    ]);
  });

  it('is answered as not tried if only the request around it is wrong', () => {
    const { context } = refusalOf({ actions: [toolSession[0]], scal: 1 });
    expect(context['outputs']).toMatchObject([{ content: [{ type: 'text', text: SKIPPED }] }]);
  });
});

describe('a computer_call item', () => {
  it.each(INVALID_ITEMS)('%j is refused with the paths %j', (members, paths) => {
    const sent = { type: 'computer_call', ...members };
    expect(pathsOf(sent)).toEqual(paths);
    expect(refusalOf(sent).context['outputs']).toEqual([]);
  });

  it('may have the other of action and actions as null', () => {
    const item = { type: 'computer_call', call_id: 'c', status: null, pending_safety_checks: null };
    const [one, other] = [
      { ...item, action: wait, actions: null },
      { ...item, action: null, actions: [wait] },
    ].map((sent) => planActions(sent, DISPLAY));
    expect(one).toEqual(other);
    expect(one?.units).toMatchObject([{ actions: [[{ do: 'wait', ms: 0 }]] }]);
  });

  it('takes no image for a screenshot inside it: one is made at its end', () => {
    expect(planActions(itemSession[0], DISPLAY).units).toMatchObject([
      { actions: [[]], vendor: { kind: 'computer_call' } },
    ]);
  });

  it('with pending checks waits for all of them to be named by their ids', () => {
    const check = (id: string) => ({ id, code: 'malicious_instructions', message: null, more: 1 });
    const call = (...checks: readonly object[]) => ({
      type: 'computer_call',
      call_id: 'c',
      action: wait,
      pending_safety_checks: checks,
    });
    const actions = [call(check('sc_1')), call(check('sc_2')), call()];
    const pending = ['sc_1', 'sc_2'].map((id) => ({ id, code: 'malicious_instructions', message: null }));
    for (const named of [undefined, [], [{ id: 'sc_1' }], [{ id: 'sc_3' }]]) {
      const refusal = refusalOf({ actions, acknowledged_safety_checks: named });
      expect([refusal.kind, refusal.code]).toEqual(['conflict', 'safety_check_pending']);
      expect(refusal.context).toEqual({ pending_safety_checks: pending });
    }
    const plan = planActions({ actions, acknowledged_safety_checks: pending }, DISPLAY);
    expect(plan.units[0]?.vendor).toEqual({ kind: 'computer_call', callId: 'c', checks: [pending[0]] });
  });

  it('that is not valid is refused before its checks are asked for', () => {
    const call = {
      type: 'computer_call',
      call_id: 'c',
      action: { type: 'clck' },
      pending_safety_checks: [{ id: 'sc_1' }],
    };
    expect(refusalOf(call).code).toBe('invalid_action');
  });
});
