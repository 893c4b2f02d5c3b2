import { action, schemaOfAny, type ActionInput } from './action.js';
import { chordKeys, heldKeys, key } from './key-forms.js';
import { aliased, optionalOr, required } from './member.js';
import { distance, dragPath, region, x, y } from './pixel-forms.js';
import { button, clipboardText, milliseconds, typedText, wholeNumber } from './plain-forms.js';
import {
  chord,
  click,
  CLIPBOARD_CHARACTERS,
  drag,
  holding,
  LEFT,
  moveToSeen,
  press,
  release,
  screenshot,
  scroll,
  typing,
  waiting,
  zoom,
} from './steps.js';

const MOST_REPEATS = 100;
const MOST_CLICKS = 3;
const DEFAULT_WAIT_MS = 1_000;

const at = { x: required(x), y: required(y) };
const keys = aliased('modifiers', optionalOr([], heldKeys));
const mouseButton = optionalOr('left', button);

/** How often a chord is pressed. */
export const repeat = optionalOr(1, wholeNumber(1, MOST_REPEATS));

const clicks = (times: number) =>
  action({ ...at, keys }, (values, screen) =>
    holding(values.keys, [moveToSeen(values, screen), ...click(LEFT, times)]),
  );

const keypress = action({ keys: required(chordKeys), repeat }, (values) => chord(values.keys, values.repeat));

/** The actions named by `type`: ours, and OpenAI's `ComputerAction`. */
export const typedActions = {
  click: action(
    { ...at, button: mouseButton, clicks: optionalOr(1, wholeNumber(1, MOST_CLICKS)), keys },
    (values, screen) =>
      holding(values.keys, [moveToSeen(values, screen), ...click(values.button, values.clicks)]),
  ),
  double_click: clicks(2),
  triple_click: clicks(3),
  move: action({ ...at, keys }, (values, screen) => holding(values.keys, [moveToSeen(values, screen)])),
  mouse_down: action({ button: mouseButton, keys }, (values) => holding(values.keys, [press(values.button)])),
  mouse_up: action({ button: mouseButton, keys }, (values) => holding(values.keys, [release(values.button)])),
  drag: action({ path: required(dragPath), keys }, ({ path: [from = null, ...to], ...values }) =>
    holding(values.keys, drag(from, ...to)),
  ),
  scroll: action(
    {
      ...at,
      dx: aliased('scroll_x', optionalOr(0, distance)),
      dy: aliased('scroll_y', optionalOr(0, distance)),
      keys,
    },
    (values, screen) => holding(values.keys, [moveToSeen(values, screen), ...scroll(values.dx, values.dy)]),
  ),
  type: action({ text: required(typedText) }, ({ text }) => typing(text)),
  key: keypress,
  keypress,
  key_down: action({ key: required(key) }, (values) => [{ do: 'keys_down', keys: [values.key] }]),
  key_up: action({ key: required(key) }, (values) => [{ do: 'keys_up', keys: [values.key] }]),
  wait: action({ ms: optionalOr(DEFAULT_WAIT_MS, milliseconds) }, ({ ms }) => [waiting(ms)]),
  screenshot: action({}, (_, screen) => screenshot(screen)),
  zoom: action({ region: required(region) }, (values, screen) => zoom(values.region, screen)),
  cursor_position: action({}, () => [{ do: 'cursor_position' }]),
  clipboard_get: action({}, () => [{ do: 'clipboard_get', characters: CLIPBOARD_CHARACTERS }]),
  clipboard_set: action({ text: required(clipboardText) }, ({ text }) => [{ do: 'clipboard_set', text }]),
} as const;

/** An action named by `type`, as a caller sends it. */
export type TypedAction = ActionInput<typeof typedActions, 'type'>;

export const typedActionSchema = schemaOfAny(typedActions, 'type', 'TypedAction');
