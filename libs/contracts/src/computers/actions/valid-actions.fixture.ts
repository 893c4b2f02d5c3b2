import fc from 'fast-check';
import type { ActionName, NamedActionMembers } from './named-actions.js';
import { screenOf, type Screen } from './screen.js';
import type { typedActions, TypedAction } from './typed-actions.js';

type Members<Input> = fc.Arbitrary<Input>;

export const screens: fc.Arbitrary<Screen> = fc
  .record({
    width: fc.integer({ min: 640, max: 2_560 }),
    height: fc.integer({ min: 480, max: 1_600 }),
    scale: fc.double({ min: 0.1, max: 1, noNaN: true }),
  })
  .map(({ scale, ...display }) => screenOf(display, scale));

const key = fc.constantFrom(
  'a',
  'A',
  'é',
  '+',
  'Return',
  'PAGE_UP',
  'ctrl+s',
  'shift++',
  'ARROWLEFT',
  'F5',
  '🚀',
);
const oneKey = fc.constantFrom('ctrl', 'Shift_L', 'x', 'ENTER');
const keys = fc.array(key, { maxLength: 3 });
const text = fc.string({ unit: 'grapheme', maxLength: 40 });
/** Three of them stay within the time of a request. */
const seconds = fc.double({ min: 0, max: 200, noNaN: true });
const opt = <Value>(value: fc.Arbitrary<Value>) => fc.option(value, { nil: null });

const pixelsOf = ({ size }: Screen) => {
  const x = fc.double({ min: 0, max: size.width, maxExcluded: true, noNaN: true });
  const y = fc.double({ min: 0, max: size.height, maxExcluded: true, noNaN: true });
  const pair = fc.tuple(x, y).map((one): readonly number[] => one);
  const span = (side: number) =>
    fc
      .integer({ min: 0, max: side - 1 })
      .chain((from) => fc.tuple(fc.constant(from), fc.integer({ min: from + 1, max: side })));
  const region = fc
    .tuple(span(size.width), span(size.height))
    .map(([[left, right], [top, bottom]]): readonly number[] => [left, top, right, bottom]);
  return { at: { x, y }, pair, region };
};

type TypedName = keyof typeof typedActions;

/** Valid members of each action named by `type`; a member that may be left out is null at times. */
export const typedMembers = (screen: Screen) => {
  const { at, pair, region } = pixelsOf(screen);
  const held = { keys: opt(keys) };
  const modified = { modifiers: opt(keys) };
  const button = opt(fc.constantFrom('left', 'middle', 'wheel', 'right', 'back', 'forward'));
  const pixels = fc.double({ min: -1_000, max: 1_000, noNaN: true });
  const chord = fc.record({
    keys: fc.array(key, { minLength: 1, maxLength: 3 }),
    repeat: opt(fc.integer({ min: 1, max: 100 })),
  });
  return {
    click: fc.record({ ...at, button, clicks: opt(fc.integer({ min: 1, max: 3 })), ...held }),
    double_click: fc.record({ ...at, ...modified }),
    triple_click: fc.record({ ...at, ...held }),
    move: fc.record({ ...at, ...held }),
    mouse_down: fc.record({ button, ...held }),
    mouse_up: fc.record({ button, ...modified }),
    drag: fc.record({
      path: fc.array(fc.oneof(pair, fc.record(at)), { minLength: 1, maxLength: 5 }),
      ...held,
    }),
    scroll: fc.record({ ...at, dx: opt(pixels), scroll_y: opt(pixels), ...held }),
    type: fc.record({ text }),
    key: chord,
    keypress: chord,
    key_down: fc.record({ key: oneKey }),
    key_up: fc.record({ key: oneKey }),
    wait: fc.record({ ms: opt(fc.double({ min: 0, max: 200_000, noNaN: true })) }),
    screenshot: fc.constant({}),
    zoom: fc.record({ region }),
    cursor_position: fc.constant({}),
    clipboard_get: fc.constant({}),
    clipboard_set: fc.record({ text }),
  } satisfies { [Name in TypedName]: Members<Omit<Extract<TypedAction, { type: Name }>, 'type'>> };
};

/** Valid members of each of Anthropic's actions. */
export const namedMembers = (screen: Screen) => {
  const { pair, region } = pixelsOf(screen);
  const held = { text: opt(key) };
  const click = fc.record({ coordinate: opt(pair), ...held });
  return {
    key: fc.record({ text: key, repeat: opt(fc.integer({ min: 1, max: 100 })) }),
    hold_key: fc.record({ text: key, duration: seconds }),
    type: fc.record({ text }),
    cursor_position: fc.constant({}),
    mouse_move: fc.record({ coordinate: pair }),
    left_mouse_down: fc.constant({}),
    left_mouse_up: fc.constant({}),
    left_click: click,
    left_click_drag: fc.record({ start_coordinate: opt(pair), coordinate: pair, ...held }),
    right_click: click,
    middle_click: click,
    double_click: click,
    triple_click: click,
    scroll: fc.record({
      coordinate: opt(pair),
      scroll_direction: fc.constantFrom('up', 'down', 'left', 'right'),
      scroll_amount: fc.double({ min: 0, max: 100, noNaN: true }),
      ...held,
    }),
    wait: fc.record({ duration: seconds }),
    screenshot: fc.constant({}),
    zoom: fc.record({ region }),
  } satisfies { [Name in ActionName]: Members<NamedActionMembers[Name]> };
};

/** An action with its name, as one of the three forms that Anthropic's models use has it, and the path of its members. */
export const ANTHROPIC_FORMS = {
  bare: { path: '', of: (name: string, input: object) => ({ action: name, ...input }) },
  tool: {
    path: 'input.',
    of: (name: string, input: object) => ({
      type: 'tool_use',
      id: 'toolu_1',
      name: 'computer',
      input: { action: name, ...input },
      caller: { type: 'direct' },
    }),
  },
  toolset: {
    path: 'input.',
    of: (name: string, input: object) => ({
      type: 'tool_use',
      id: 'toolu_1',
      name,
      input,
      toolset_name: 'computer',
    }),
  },
} as const;

/** An action named by `type`, bare and in an item. */
export const OPENAI_FORMS = {
  bare: { path: '', of: (name: string, input: object) => ({ type: name, ...input }) },
  action: {
    path: 'action.',
    of: (name: string, input: object) => ({
      type: 'computer_call',
      id: 'cu_1',
      call_id: 'call_1',
      action: { type: name, ...input },
    }),
  },
  actions: {
    path: 'actions[0].',
    of: (name: string, input: object) => ({
      type: 'computer_call',
      id: 'cu_1',
      call_id: 'call_1',
      status: 'completed',
      pending_safety_checks: [],
      actions: [{ type: name, ...input }],
    }),
  },
} as const;

interface Sent {
  readonly screen: Screen;
  readonly name: string;
  readonly input: object;
  /** The action as it is sent. */
  readonly action: object;
  /** Of its members, from the action on. */
  readonly path: string;
}

/** Items have no place for the answers of these. */
const BARE_ONLY = ['zoom', 'cursor_position', 'clipboard_get'];

const sentAs = (
  screen: Screen,
  members: Readonly<Record<string, fc.Arbitrary<object>>>,
  forms: Readonly<
    Record<string, { readonly path: string; readonly of: (name: string, input: object) => object }>
  >,
): fc.Arbitrary<Sent> =>
  fc
    .constantFrom(...Object.entries(members))
    .chain(([name, inputs]) =>
      fc
        .tuple(inputs, fc.constantFrom(...Object.values(forms)))
        .map(([input, { path, of }]) => ({ screen, name, input, path, action: of(name, input) })),
    );

/** Any valid action of any form, on any screen. */
export const validActions: fc.Arbitrary<Sent> = screens.chain((screen) => {
  const typed = typedMembers(screen);
  const inItems = Object.fromEntries(Object.entries(typed).filter(([name]) => !BARE_ONLY.includes(name)));
  return fc.oneof(
    sentAs(screen, namedMembers(screen), ANTHROPIC_FORMS),
    sentAs(screen, typed, { bare: OPENAI_FORMS.bare }),
    sentAs(screen, inItems, OPENAI_FORMS),
  );
});
