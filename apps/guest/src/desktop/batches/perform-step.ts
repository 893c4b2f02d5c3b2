import { setTimeout as delay } from 'node:timers/promises';
import type { MouseButton, Step } from '@berth/contracts/computers/plan';
import type { Desktop } from '../desktop.js';
import type { ImageRequest, ScreenImage } from '../screen/screen.js';
import type { Found } from './outcome.js';

/** A text is entered in parts, so that it can be interrupted. */
const CHARACTERS_AT_A_TIME = 64;

/** Of images in the results of actions. */
export const PNG = { format: 'png', quality: 100 } as const;

/** Steps that only find something out. */
type Look = Extract<Step, { readonly do: 'screenshot' | 'zoom' | 'cursor_position' | 'clipboard_get' }>;

const LOOKS: ReadonlySet<Step['do']> = new Set<Look['do']>([
  'screenshot',
  'zoom',
  'cursor_position',
  'clipboard_get',
]);

export const isLook = (step: Step): step is Look => LOOKS.has(step.do);

export const performLook = async (
  step: Look,
  desktop: Desktop,
  capture: (request: ImageRequest) => Promise<ScreenImage>,
): Promise<Found> => {
  switch (step.do) {
    case 'screenshot':
      return { kind: 'image', image: await capture({ ...PNG, size: step.size }) };
    case 'zoom':
      return { kind: 'image', image: await capture({ ...PNG, region: step.region, size: step.size }) };
    case 'cursor_position':
      return { kind: 'position', ...(await desktop.pointer.position()) };
    case 'clipboard_get':
      return { kind: 'text', text: await desktop.clipboard.read(step.characters) };
  }
};

/** What the steps of an action have in common. */
export interface ActionState {
  readonly desktop: Desktop;
  /** Mouse buttons that are down, of this action and of earlier ones. */
  readonly buttons: Set<MouseButton>;
  /** Keys that the action's own `keys_down` has pressed; undefined before it. */
  keys: Set<number> | undefined;
}

/** Steps of the pointer. */
type PointerStep = Extract<Step, { readonly do: 'move' | 'drag' | 'button_down' | 'button_up' | 'scroll' }>;

const isPointerStep = (step: Exclude<Step, Look>): step is PointerStep =>
  step.do === 'move' || step.do === 'drag' || step.do === 'scroll' || 'button' in step;

/** When `signal` aborts, it does no more of the step and throws. */
export const performAct = (
  step: Exclude<Step, Look>,
  state: ActionState,
  signal: AbortSignal,
): Promise<void> =>
  isPointerStep(step) ? performPointerStep(step, state, signal) : performOther(step, state, signal);

const performPointerStep = async (
  step: PointerStep,
  { desktop: { pointer }, buttons }: ActionState,
  signal: AbortSignal,
): Promise<void> => {
  switch (step.do) {
    case 'move':
      // A program that drags something wants to see it on its way.
      return buttons.size > 0 ? pointer.follow([step], signal) : pointer.move(step);
    case 'drag':
      return pointer.drag([step.from ?? (await pointer.position()), ...step.to], signal);
    case 'button_down':
      buttons.add(step.button);
      return pointer.down(step.button);
    case 'button_up':
      buttons.delete(step.button);
      return pointer.up(step.button);
    case 'scroll':
      return pointer.scroll(await pointer.position(), step);
  }
};

const performOther = async (
  step: Exclude<Step, Look | PointerStep>,
  state: ActionState,
  signal: AbortSignal,
): Promise<void> => {
  const { keyboard, clipboard } = state.desktop;
  switch (step.do) {
    case 'keys_down':
      state.keys ??= new Set();
      for (const key of step.keys) if (await keyboard.down(key)) state.keys.add(key);
      return;
    case 'keys_up':
      for (const key of step.keys) if (state.keys?.has(key) !== false) await keyboard.up(key);
      return;
    case 'chord':
      return inParts(
        Array.from({ length: step.times }, () => () => keyboard.chord(step.keys)),
        signal,
      );
    case 'type':
      return inParts(
        partsOf(step.text).map((part) => () => keyboard.type(part)),
        signal,
      );
    case 'wait':
      await delay(step.ms, undefined, { signal });
      return;
    case 'clipboard_set':
      return clipboard.write(step.text);
  }
};

const inParts = async (parts: readonly (() => Promise<void>)[], signal: AbortSignal): Promise<void> => {
  for (const part of parts) {
    signal.throwIfAborted();
    await part();
  }
};

const partsOf = (text: string): readonly string[] => {
  const characters = Array.from(text.replaceAll('\r\n', '\n'));
  const count = Math.ceil(characters.length / CHARACTERS_AT_A_TIME);
  return Array.from({ length: count }, (_, index) =>
    characters.slice(index * CHARACTERS_AT_A_TIME, (index + 1) * CHARACTERS_AT_A_TIME).join(''),
  );
};
