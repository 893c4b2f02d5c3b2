import { action, schemaOfAny, type ActionInput, type InputOf } from './action.js';
import { chordText } from './key-forms.js';
import { optional, required } from './member.js';
import { coordinate, notches, region } from './pixel-forms.js';
import { choice, seconds, typedText } from './plain-forms.js';
import {
  chord,
  click,
  drag,
  holding,
  LEFT,
  MIDDLE,
  moveTo,
  press,
  release,
  RIGHT,
  screenshot,
  scroll,
  typing,
  waiting,
  zoom,
} from './steps.js';
import type { MouseButton, Point, Step } from './step.js';
import { repeat } from './typed-actions.js';

/** Where one notch turns, right and down. */
const DIRECTIONS = { up: [0, -1], down: [0, 1], left: [-1, 0], right: [1, 0] } as const;

/** The keys held meanwhile. */
const held = { text: optional(chordText) };
const there = { coordinate: optional(coordinate) };

const moveIfGiven = (point: Point | undefined): readonly Step[] =>
  point === undefined ? [] : [moveTo(point)];

const clicks = (button: MouseButton, times: number) =>
  action({ ...there, ...held }, (values) =>
    holding(values.text ?? [], [...moveIfGiven(values.coordinate), ...click(button, times)]),
  );

/** The actions named by `action`: those of Anthropic's computer tool, and the members of its computer toolset. */
export const namedActions = {
  key: action({ text: required(chordText), repeat }, (values) => chord(values.text, values.repeat)),
  hold_key: action({ text: required(chordText), duration: required(seconds) }, (values) =>
    holding(values.text, [waiting(values.duration)]),
  ),
  type: action({ text: required(typedText) }, ({ text }) => typing(text)),
  cursor_position: action({}, () => [{ do: 'cursor_position' }]),
  mouse_move: action({ coordinate: required(coordinate) }, (values) => [moveTo(values.coordinate)]),
  left_mouse_down: action({}, () => [press(LEFT)]),
  left_mouse_up: action({}, () => [release(LEFT)]),
  left_click: clicks(LEFT, 1),
  left_click_drag: action(
    { start_coordinate: optional(coordinate), coordinate: required(coordinate), ...held },
    (values) => holding(values.text ?? [], drag(values.start_coordinate ?? null, values.coordinate)),
  ),
  right_click: clicks(RIGHT, 1),
  middle_click: clicks(MIDDLE, 1),
  double_click: clicks(LEFT, 2),
  triple_click: clicks(LEFT, 3),
  scroll: action(
    {
      ...there,
      scroll_direction: required(choice(['up', 'down', 'left', 'right'])),
      scroll_amount: required(notches),
      ...held,
    },
    (values) => {
      const [right, down] = DIRECTIONS[values.scroll_direction];
      const { scroll_amount: amount } = values;
      return holding(values.text ?? [], [
        ...moveIfGiven(values.coordinate),
        ...scroll(right * amount, down * amount),
      ]);
    },
  ),
  wait: action({ duration: required(seconds) }, (values) => [waiting(values.duration)]),
  screenshot: action({}, (_, screen) => screenshot(screen)),
  zoom: action({ region: required(region) }, (values, screen) => zoom(values.region, screen)),
} as const;

export type ActionName = keyof typeof namedActions;

/** An action named by `action`, as a caller sends it. */
export type NamedAction = ActionInput<typeof namedActions, 'action'>;

/** The members of each of Anthropic's actions. */
export type NamedActionMembers = { readonly [Name in ActionName]: InputOf<(typeof namedActions)[Name]> };

/** What is wrong with a name that is none of theirs. */
export const MUST_BE_NAMED = `must be one of ${Object.keys(namedActions).join(', ')}`;

export const namedActionSchema = schemaOfAny(namedActions, 'action', 'NamedAction');
