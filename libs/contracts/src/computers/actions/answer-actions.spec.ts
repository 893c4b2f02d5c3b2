import { describe, expect, it } from 'vitest';
import { answerActions } from './answer-actions.js';
import type { Image, PlanOutcome } from './outcome.js';
import { needsClosingImage } from './action-plan.js';
import { planActions } from './plan-actions.js';
import { DISPLAY } from './refusals.fixture.js';
import { stepsAfterFailure } from './step.js';

const SKIPPED = 'Not executed: an earlier computer action in this turn failed.';
const image = (data: string): Image => ({
  format: 'png',
  width: 640,
  height: 400,
  data,
  capturedAt: '2026-01-31T12:00:00.000Z',
});
const error = { code: 'taken_over', message: 'A person has the computer.' };
const toolUse = (id: string, name: string, input: object) => ({
  type: 'tool_use',
  id,
  name,
  input,
  toolset_name: 'computer',
});
const call = (id: string) => ({ type: 'computer_call', call_id: id, actions: [{ type: 'wait' }] });

const answer = (body: object, outcome: Partial<PlanOutcome>) =>
  answerActions(planActions(body, DISPLAY), {
    units: [],
    cursor: { x: 100, y: 50 },
    closing: null,
    durationMs: 12,
    ...outcome,
  });

describe('the answer to actions', () => {
  it('has what each found out, in pixels that the caller sees', () => {
    const shown = image('c2hvdA==');
    expect(
      answer(
        {
          scale: 0.5,
          screenshot: true,
          actions: [
            { type: 'cursor_position' },
            { action: 'cursor_position' },
            { type: 'clipboard_get' },
            { type: 'screenshot' },
            { action: 'zoom', region: [0, 0, 10, 10] },
            { type: 'keypress', keys: ['a'] },
          ],
        },
        {
          units: [
            { error: null, seen: { kind: 'position', x: 1_279, y: 3 } },
            { error: null, seen: { kind: 'position', x: 10, y: 20 } },
            { error: null, seen: { kind: 'text', text: 'copied' } },
            { error: null, seen: { kind: 'image', image: shown } },
            { error: null, seen: { kind: 'image', image: shown } },
            { error: null, seen: null },
          ],
          closing: image('ZW5k'),
        },
      ),
    ).toEqual({
      results: [
        { index: 0, type: 'cursor_position', ok: true, x: 639, y: 2 },
        { index: 1, type: 'cursor_position', ok: true, x: 5, y: 10 },
        { index: 2, type: 'clipboard_get', ok: true, text: 'copied' },
        { index: 3, type: 'screenshot', ok: true, screenshot: shown },
        { index: 4, type: 'zoom', ok: true, screenshot: shown },
        { index: 5, type: 'keypress', ok: true },
      ],
      failedIndex: null,
      skipped: [],
      cursor: { x: 50, y: 25 },
      screenshot: image('ZW5k'),
      durationMs: 12,
    });
  });

  it('has images of blocks and items in their outputs only', () => {
    const shown = image('c2hvdA==');
    const { results } = answer(
      { actions: [toolUse('toolu_1', 'screenshot', {}), call('call_1')] },
      {
        units: [
          { error: null, seen: { kind: 'image', image: shown } },
          { error: null, closing: shown },
        ],
      },
    );
    expect(results).toEqual([
      {
        index: 0,
        type: 'screenshot',
        ok: true,
        output: {
          type: 'tool_result',
          tool_use_id: 'toolu_1',
          toolset_name: 'computer',
          content: [{ type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'c2hvdA==' } }],
        },
      },
      {
        index: 1,
        type: 'computer_call',
        ok: true,
        output: {
          type: 'computer_call_output',
          call_id: 'call_1',
          output: { type: 'computer_screenshot', image_url: 'data:image/png;base64,c2hvdA==' },
        },
      },
    ]);
  });

  it('answers what failed and what was not tried in the form of its vendor', () => {
    const actions = [
      { type: 'wait' },
      call('call_1'),
      toolUse('toolu_1', 'key', { text: 'a' }),
      call('call_2'),
      { type: 'wait' },
    ];
    const found = answer(
      { actions },
      {
        units: [
          { error: null, seen: null },
          { error, closing: image('ZmFpbGVk') },
        ],
        closing: image('YWZ0ZXI='),
      },
    );
    const output = (id: string, data: string) => ({
      type: 'computer_call_output',
      call_id: id,
      output: { type: 'computer_screenshot', image_url: `data:image/png;base64,${data}` },
    });
    expect(found.results.at(-1)).toEqual({
      index: 1,
      type: 'computer_call',
      ok: false,
      error,
      output: output('call_1', 'ZmFpbGVk'),
    });
    expect(found.failedIndex).toBe(1);
    expect(found.skipped).toEqual([
      {
        index: 2,
        output: {
          type: 'tool_result',
          tool_use_id: 'toolu_1',
          toolset_name: 'computer',
          content: [{ type: 'text', text: SKIPPED }],
          is_error: true,
        },
      },
      { index: 3, output: output('call_2', 'YWZ0ZXI=') },
      { index: 4 },
    ]);
  });

  it('tells the model why its block failed, and goes on after it if it may', () => {
    const found = answer(
      { actions: [toolUse('toolu_1', 'screenshot', {}), { type: 'wait' }], stopOnError: false },
      {
        units: [
          { error, seen: null },
          { error: null, seen: null },
        ],
      },
    );
    expect(found).toMatchObject({
      results: [
        { ok: false, output: { content: [{ type: 'text', text: error.message }], is_error: true } },
        { ok: true },
      ],
      failedIndex: 0,
      skipped: [],
    });
  });
});

describe('the still screen at the end', () => {
  const waits = [{ type: 'wait' }, { type: 'wait' }];

  it.each([
    ['was asked for', { actions: waits, screenshot: true }, 2],
    ['is the output of an item that is skipped', { actions: [...waits, call('call_1')] }, 1],
  ])('is due if it %s, and no answer is made without it', (_, body, begun) => {
    const plan = planActions(body, DISPLAY);
    expect(needsClosingImage(plan, begun)).toBe(true);
    const units = Array.from({ length: begun }, () => ({ error: null, seen: null }));
    expect(() => answer(body, { units })).toThrow('no image of the still screen');
    expect(() => answer(body, { units, closing: image('ZW5k') })).not.toThrow();
  });

  it('is not due if it was not asked for and no item is skipped', () => {
    const actions = [...waits, call('call_1')];
    expect(needsClosingImage(planActions({ actions }, DISPLAY), 3)).toBe(false);
    expect(needsClosingImage(planActions({ actions: waits }, DISPLAY), 1)).toBe(false);
  });

  it('is needed of each item that was begun, too', () => {
    expect(() => answer(call('call_1'), { units: [{ error: null, seen: null }] })).toThrow(
      'no image of the still screen',
    );
  });
});

describe('after a step that failed', () => {
  const [steps = []] =
    planActions({ type: 'click', x: 1, y: 1, keys: ['ctrl'] }, DISPLAY).units[0]?.actions ?? [];

  it('the button and the keys that the action pressed are let go', () => {
    const press = steps.findIndex(({ do: what }) => what === 'button_down');
    expect(stepsAfterFailure(steps, press)).toEqual([
      { do: 'button_up', button: 1 },
      { do: 'keys_up', keys: [0xffe3] },
    ]);
  });

  it('a button that it has not pressed yet is left alone', () => {
    const first = steps.findIndex(({ do: what }) => what === 'move');
    expect(stepsAfterFailure(steps, first)).toEqual([{ do: 'keys_up', keys: [0xffe3] }]);
    expect(stepsAfterFailure([{ do: 'button_up', button: 1 }], 0)).toEqual([]);
  });
});
