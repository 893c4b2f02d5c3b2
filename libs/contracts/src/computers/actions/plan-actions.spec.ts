import { describe, expect, it } from 'vitest';
import { namedActions } from './named-actions.js';
import { planActions } from './plan-actions.js';
import { DISPLAY, pathsOf } from './refusals.fixture.js';
import type { Step } from './step.js';
import { typedActions } from './typed-actions.js';

const CTRL = 0xffe3;
const SHIFT = 0xffe1;
const down = (button: number) => ({ do: 'button_down', button });
const up = (button: number) => ({ do: 'button_up', button });
const move = (x: number, y: number) => ({ do: 'move', x, y });
const held = (keys: readonly number[], ...steps: readonly object[]) => [
  { do: 'keys_down', keys },
  ...steps,
  { do: 'keys_up', keys },
];

const stepsOf = (action: object, scale?: number): readonly Step[] =>
  planActions({ actions: [action], scale }, DISPLAY).units.flatMap(({ actions }) => actions.flat());

const TYPED: readonly (readonly [object, readonly object[]])[] = [
  [{ type: 'click', x: 10, y: 20 }, [move(10, 20), down(1), up(1)]],
  [
    { type: 'click', x: 10, y: 20, button: 'right', clicks: 2 },
    [move(10, 20), down(3), up(3), down(3), up(3)],
  ],
  [{ type: 'click', x: 1, y: 2, button: 'wheel' }, [move(1, 2), down(2), up(2)]],
  [{ type: 'click', x: 1, y: 2, button: 'back' }, [move(1, 2), down(8), up(8)]],
  [{ type: 'click', x: 1, y: 2, button: 'forward' }, [move(1, 2), down(9), up(9)]],
  [{ type: 'click', x: 1, y: 2, keys: ['CTRL', 'shift'] }, held([CTRL, SHIFT], move(1, 2), down(1), up(1))],
  [{ type: 'click', x: 1, y: 2, modifiers: ['ctrl+shift'] }, held([CTRL, SHIFT], move(1, 2), down(1), up(1))],
  [{ type: 'click', x: 1.9, y: -0.5, keys: [], button: null }, [move(1, 0), down(1), up(1)]],
  [{ type: 'double_click', x: 1, y: 2, keys: null }, [move(1, 2), down(1), up(1), down(1), up(1)]],
  [
    { type: 'double_click', x: 1, y: 2, keys: ['ctrl'] },
    held([CTRL], move(1, 2), down(1), up(1), down(1), up(1)),
  ],
  [
    { type: 'triple_click', x: 1, y: 2, modifiers: ['ctrl'] },
    held([CTRL], move(1, 2), ...[1, 1, 1].flatMap((one) => [down(one), up(one)])),
  ],
  [{ type: 'move', x: 1, y: 2, keys: ['ctrl'] }, held([CTRL], move(1, 2))],
  [{ type: 'triple_click', x: 1, y: 2 }, [move(1, 2), ...[1, 1, 1].flatMap((one) => [down(one), up(one)])]],
  [{ type: 'move', x: 1_279, y: 799 }, [move(1_279, 799)]],
  [{ type: 'mouse_down' }, [down(1)]],
  [{ type: 'mouse_up', button: 'middle', keys: ['shift'] }, held([SHIFT], up(2))],
  [
    { type: 'drag', path: [{ x: 1, y: 2 }, [3, 4], { x: 5.5, y: 6 }] },
    [
      {
        do: 'drag',
        from: { x: 1, y: 2 },
        to: [
          { x: 3, y: 4 },
          { x: 5, y: 6 },
        ],
      },
    ],
  ],
  [
    { type: 'drag', path: [[1, 2]], keys: ['ctrl'] },
    held([CTRL], { do: 'drag', from: { x: 1, y: 2 }, to: [] }),
  ],
  [{ type: 'scroll', x: 1, y: 2, dy: 120 }, [move(1, 2), { do: 'scroll', right: 0, down: 2 }]],
  [
    { type: 'scroll', x: 1, y: 2, scroll_x: -100, scroll_y: 0 },
    [move(1, 2), { do: 'scroll', right: -1, down: 0 }],
  ],
  [{ type: 'scroll', x: 1, y: 2 }, [move(1, 2)]],
  [
    { type: 'scroll', x: 1, y: 2, dx: 1, keys: ['ctrl'] },
    held([CTRL], move(1, 2), { do: 'scroll', right: 1, down: 0 }),
  ],
  [{ type: 'type', text: 'Zoë 🚀\n' }, [{ do: 'type', text: 'Zoë 🚀\n' }]],
  [{ type: 'type', text: '' }, []],
  [{ type: 'type', text: 'a\tb\r\n' }, [{ do: 'type', text: 'a\tb\r\n' }]],
  [{ type: 'keypress', keys: ['CTRL', 'S'] }, [{ do: 'chord', keys: [CTRL, 0x73], times: 1 }]],
  [{ type: 'key', keys: ['ctrl+s'], repeat: 100 }, [{ do: 'chord', keys: [CTRL, 0x73], times: 100 }]],
  [{ type: 'key_down', key: 'shift' }, [{ do: 'keys_down', keys: [SHIFT] }]],
  [{ type: 'key_up', key: 'shift' }, [{ do: 'keys_up', keys: [SHIFT] }]],
  [{ type: 'wait' }, [{ do: 'wait', ms: 1_000 }]],
  [{ type: 'wait', ms: 0 }, [{ do: 'wait', ms: 0 }]],
  [{ type: 'screenshot' }, [{ do: 'screenshot', size: DISPLAY }]],
  [
    { type: 'zoom', region: [0, 0, 640, 200] },
    [{ do: 'zoom', region: { x: 0, y: 0, width: 640, height: 200 }, size: { width: 1_280, height: 400 } }],
  ],
  [{ type: 'cursor_position' }, [{ do: 'cursor_position' }]],
  [{ type: 'clipboard_get' }, [{ do: 'clipboard_get', characters: 262_144 }]],
  [{ type: 'clipboard_set', text: 'x' }, [{ do: 'clipboard_set', text: 'x' }]],
];

const NAMED: readonly (readonly [object, readonly object[]])[] = [
  [{ action: 'key', text: 'ctrl+s', repeat: 2 }, [{ do: 'chord', keys: [CTRL, 0x73], times: 2 }]],
  [{ action: 'key', text: 'A' }, [{ do: 'chord', keys: [0x41], times: 1 }]],
  [{ action: 'hold_key', text: 'shift', duration: 0.5 }, held([SHIFT], { do: 'wait', ms: 500 })],
  [{ action: 'left_click' }, [down(1), up(1)]],
  [{ action: 'left_click', coordinate: [1, 2], text: 'ctrl' }, held([CTRL], move(1, 2), down(1), up(1))],
  [{ action: 'right_click', coordinate: [1, 2] }, [move(1, 2), down(3), up(3)]],
  [{ action: 'middle_click', coordinate: null }, [down(2), up(2)]],
  [
    { action: 'double_click', coordinate: [1, 2], text: 'ctrl' },
    held([CTRL], move(1, 2), down(1), up(1), down(1), up(1)),
  ],
  [{ action: 'triple_click' }, [1, 1, 1].flatMap((one) => [down(one), up(one)])],
  [{ action: 'left_mouse_down' }, [down(1)]],
  [{ action: 'left_mouse_up' }, [up(1)]],
  [{ action: 'type', text: 'ctrl+s' }, [{ do: 'type', text: 'ctrl+s' }]],
  [{ action: 'mouse_move', coordinate: [1, 2] }, [move(1, 2)]],
  [
    { action: 'left_click_drag', start_coordinate: [1, 2], coordinate: [1, 2], text: 'shift' },
    held([SHIFT], { do: 'drag', from: { x: 1, y: 2 }, to: [{ x: 1, y: 2 }] }),
  ],
  [
    { action: 'scroll', scroll_direction: 'down', scroll_amount: 1, text: 'ctrl' },
    held([CTRL], { do: 'scroll', right: 0, down: 1 }),
  ],
  [
    { action: 'left_click_drag', start_coordinate: [1, 2], coordinate: [3, 4] },
    [{ do: 'drag', from: { x: 1, y: 2 }, to: [{ x: 3, y: 4 }] }],
  ],
  [
    { action: 'left_click_drag', start_coordinate: null, coordinate: [3, 4] },
    [{ do: 'drag', from: null, to: [{ x: 3, y: 4 }] }],
  ],
  [{ action: 'scroll', scroll_direction: 'up', scroll_amount: 2.2 }, [{ do: 'scroll', right: 0, down: -3 }]],
  [
    { action: 'scroll', scroll_direction: 'right', scroll_amount: 100 },
    [{ do: 'scroll', right: 100, down: 0 }],
  ],
  [{ action: 'scroll', scroll_direction: 'left', scroll_amount: 0, coordinate: [1, 2] }, [move(1, 2)]],
  [
    { type: null, action: 'scroll', scroll_direction: 'left', scroll_amount: 1 },
    [{ do: 'scroll', right: -1, down: 0 }],
  ],
  [{ action: 'wait', duration: 2 }, [{ do: 'wait', ms: 2_000 }]],
  [{ action: 'cursor_position' }, [{ do: 'cursor_position' }]],
  [{ action: 'screenshot' }, [{ do: 'screenshot', size: DISPLAY }]],
  [
    { action: 'zoom', region: [1_080, 600, 1_280, 800] },
    [
      {
        do: 'zoom',
        region: { x: 1_080, y: 600, width: 200, height: 200 },
        size: { width: 800, height: 800 },
      },
    ],
  ],
];

/** Bodies and the paths of all that is wrong with them. */
const INVALID: readonly (readonly [unknown, readonly string[]])[] = [
  [undefined, ['']],
  ['click', ['']],
  [[], ['']],
  [{}, ['actions']],
  [{ actions: [] }, ['actions']],
  [{ actions: {} }, ['actions']],
  [{ actions: Array.from({ length: 101 }, () => ({ type: 'wait', ms: 0 })) }, ['actions']],
  [{ actions: [{ type: 'wait' }], stoponerror: true }, ['stoponerror']],
  [{ actions: [{ type: 'wait' }], scale: 0.09 }, ['scale']],
  [
    { actions: [{ type: 'wait' }], scale: 1.1, screenshot: 1, stopOnError: 'no' },
    ['screenshot', 'scale', 'stopOnError'],
  ],
  [{ actions: [{ type: 'wait' }], acknowledged_safety_checks: ['sc_1'] }, ['acknowledged_safety_checks[0]']],
  [{ type: 'clck', x: 1, y: 2 }, ['type']],
  [{ type: 'constructor' }, ['type']],
  [{ actions: [null, 1, {}] }, ['actions[0]', 'actions[1]', 'actions[2].type']],
  [{ action: 'left_clik' }, ['action']],
  [{ type: 'click', action: 'left_click', x: 1, y: 2 }, ['action']],
  [{ type: 'click', x: 1_280, y: 800 }, ['x', 'y']],
  [{ type: 'click', x: -1, y: '2' }, ['x', 'y']],
  [{ actions: [{ type: 'wait' }, { type: 'click', y: 2 }] }, ['actions[1].x']],
  [{ type: 'click', x: 1, y: 2, button: 'lft' }, ['button']],
  [{ type: 'click', x: 1, y: 2, clicks: 4 }, ['clicks']],
  [{ type: 'click', x: 1, y: 2, keey: ['ctrl'] }, ['keey']],
  [{ type: 'click', x: 1, y: 2, keys: ['ctrl'], modifiers: ['alt'] }, ['modifiers']],
  [{ type: 'click', x: 1, y: 2, keys: ['ctrl', 'contrl'] }, ['keys[1]']],
  [{ type: 'click', x: 1, y: 2, keys: 'ctrl' }, ['keys']],
  [{ type: 'scroll', x: 1, y: 2, dx: 1, scroll_x: 1 }, ['scroll_x']],
  [{ type: 'scroll', x: 1, y: 2, dy: 10_001 }, ['dy']],
  [{ type: 'scroll', x: 1, y: 2, scroll_y: -10_001 }, ['scroll_y']],
  [{ type: 'drag', path: [] }, ['path']],
  [{ type: 'drag', path: Array.from({ length: 1_001 }, () => [1, 1]) }, ['path']],
  [{ type: 'drag', path: [[1, 1], { x: 1, y: 900 }] }, ['path[1].y']],
  [{ type: 'drag', path: [{ x: 1, y: 1, z: 1 }] }, ['path[0].z']],
  [{ type: 'drag', path: [[1, 1, 1]] }, ['path[0]']],
  [{ type: 'type' }, ['text']],
  [{ type: 'type', text: null }, ['text']],
  [{ type: 'type', text: 'x'.repeat(10_001) }, ['text']],
  [{ type: 'type', text: 'a\0' }, ['text']],
  [{ type: 'type', text: 'a\u0007' }, ['text']],
  [{ action: 'type', text: '\u0085' }, ['text']],
  [{ type: 'keypress', keys: [] }, ['keys']],
  [{ type: 'key', keys: ['a'], repeat: 101 }, ['repeat']],
  [{ type: 'key_down', key: 'ctrl+s' }, ['key']],
  [{ type: 'wait', ms: 300_001 }, ['ms']],
  [{ type: 'wait', ms: -1 }, ['ms']],
  [{ type: 'zoom', region: [0, 0, 0, 10] }, ['region']],
  [{ type: 'zoom', region: [0, 0, 1_281, 10] }, ['region']],
  [{ type: 'zoom', region: [0, 0, 10] }, ['region']],
  [{ action: 'left_click', coordinate: [1_280, 1] }, ['coordinate']],
  [{ action: 'left_click', coordinate: { x: 1, y: 1 } }, ['coordinate']],
  [{ action: 'left_click', key: 'ctrl' }, ['key']],
  [{ action: 'left_click_drag', start_coordinate: [1, 1] }, ['coordinate']],
  [{ action: 'key', text: 'ctrl+Retrun' }, ['text']],
  [
    { action: 'scroll', scroll_direction: 'sideways', scroll_amount: 101 },
    ['scroll_direction', 'scroll_amount'],
  ],
  [{ action: 'wait' }, ['duration']],
  [{ action: 'hold_key', text: 'a', duration: 300.1 }, ['duration']],
];

describe('the plan of an action', () => {
  it.each(TYPED)('with a type, %j, is %j', (action, steps) => {
    expect(stepsOf(action)).toEqual(steps);
  });

  it.each(NAMED)('with the name of Anthropic, %j, is %j', (action, steps) => {
    expect(stepsOf(action)).toEqual(steps);
  });

  it('is known of every action', () => {
    const names = [...TYPED, ...NAMED].flatMap(([action]) => [
      'action' in action ? action.action : 'type' in action ? action.type : undefined,
    ]);
    expect(new Set(names)).toEqual(new Set([...Object.keys(typedActions), ...Object.keys(namedActions)]));
  });

  it('is the same with nulls for members that the action does not have', () => {
    const nulls = { text: null, duration: null, scroll_amount: null, type: null };
    expect(stepsOf({ ...nulls, action: 'left_click', coordinate: [1, 2] })).toEqual([
      move(1, 2),
      down(1),
      up(1),
    ]);
  });

  it('is the same for an action alone as in a list, with its defaults', () => {
    expect(planActions({ type: 'wait' }, DISPLAY)).toEqual(
      planActions({ actions: [{ type: 'wait' }] }, DISPLAY),
    );
    expect(planActions({ type: 'wait' }, DISPLAY)).toMatchObject({
      stopOnError: true,
      screenshot: false,
      waitMs: 1_000,
    });
  });

  it('has the pixels of the display for those of a scaled screen, and images of the scaled size', () => {
    const size = { width: 640, height: 400 };
    expect(stepsOf({ type: 'move', x: 639, y: 399 }, 0.5)).toEqual([move(1_278, 798)]);
    expect(stepsOf({ action: 'mouse_move', coordinate: [1, 3] }, 0.3)).toEqual([move(3, 10)]);
    expect(stepsOf({ type: 'scroll', x: 0, y: 0, dy: 51 }, 0.5)).toEqual([
      move(0, 0),
      { do: 'scroll', right: 0, down: 2 },
    ]);
    expect(stepsOf({ type: 'screenshot' }, 0.5)).toEqual([{ do: 'screenshot', size }]);
    expect(stepsOf({ type: 'zoom', region: [0, 0, 320, 200] }, 0.5)).toEqual([
      { do: 'zoom', region: { x: 0, y: 0, width: 640, height: 400 }, size },
    ]);
    expect(pathsOf({ actions: [{ type: 'move', x: 640, y: 400 }], scale: 0.5 })).toEqual([
      'actions[0].x',
      'actions[0].y',
    ]);
    expect(planActions({ actions: [{ type: 'wait' }], scale: 0.5, screenshot: true }, DISPLAY)).toMatchObject(
      { screenshot: true, screen: { size } },
    );
  });

  it('has all of its keys whatever came before it: what is down then is known only to the desktop', () => {
    const actions = [
      { type: 'key_down', key: 'shift' },
      { type: 'click', x: 1, y: 2, keys: ['ctrl', 'shift'] },
      { action: 'key', text: 'shift+Tab' },
    ];
    expect(
      planActions({ actions, stopOnError: false }, DISPLAY).units.map((unit) => unit.actions.flat()),
    ).toEqual(actions.map((action) => stepsOf(action)));
  });
});

describe('a request that is not valid', () => {
  it.each(INVALID)('%j is refused with the paths %j', (body, paths) => {
    expect(pathsOf(body)).toEqual(paths);
  });

  it('is refused for all that is wrong with it at once', () => {
    expect(
      pathsOf({
        sclae: 1,
        actions: [{ type: 'click', x: -1, y: 2 }, { type: 'wait' }, { action: 'key', text: '' }],
      }),
    ).toEqual(['sclae', 'actions[0].x', 'actions[2].text']);
  });

  it('is refused for the pixels that no scale allows if its scale is wrong', () => {
    const actions = [
      { type: 'move', x: 1_280, y: 799 },
      { type: 'scroll', x: 0, y: 0, dy: 10_001 },
    ];
    for (const scale of [0, 2, '1']) {
      expect(pathsOf({ scale, actions })).toEqual(['scale', 'actions[0].x', 'actions[1].dy']);
    }
    expect(pathsOf({ scale: 0.5, screenshot: 1, actions: [{ type: 'move', x: 640, y: 399 }] })).toEqual([
      'screenshot',
      'actions[0].x',
    ]);
  });

  it('lists twenty unknown members at most, and cuts their names', () => {
    const many = Object.fromEntries(
      Array.from({ length: 50 }, (_, index) => [`${index}`.padStart(200, 'x'), 1]),
    );
    const paths = pathsOf({ type: 'wait', ...many });
    expect(paths).toHaveLength(20);
    expect(paths.every((path) => path.length === 128)).toBe(true);
  });

  it('may wait 600 s in all, holds included, and not more', () => {
    const waits = [
      { type: 'wait', ms: 300_000 },
      { action: 'wait', duration: 299 },
      { action: 'hold_key', text: 'a', duration: 1 },
    ];
    expect(planActions({ actions: waits }, DISPLAY).waitMs).toBe(600_000);
    expect(pathsOf({ actions: [...waits, { type: 'wait', ms: 1 }] })).toEqual(['actions[3].ms']);
    expect(pathsOf({ actions: [...waits, { action: 'hold_key', text: 'a', duration: 0.1 }] })).toEqual([
      'actions[3].duration',
    ]);
  });

  it('may have 100 actions, those inside items included', () => {
    const call = {
      type: 'computer_call',
      call_id: 'c',
      actions: Array.from({ length: 60 }, () => ({ type: 'wait', ms: 0 })),
    };
    const waits = Array.from({ length: 40 }, () => ({ type: 'wait', ms: 0 }));
    expect(planActions({ actions: [call, ...waits] }, DISPLAY).units).toHaveLength(41);
    expect(pathsOf({ actions: [call, ...waits, waits[0]] })).toEqual(['actions']);
  });
});
