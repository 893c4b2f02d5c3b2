import { setTimeout as delay } from 'node:timers/promises';
import type { MouseButton, Point, Step } from '@berth/contracts/computers';
import type { Desktop } from '../desktop.js';
import type { Button } from '../input/pointer.js';
import type { ImageRequest, ScreenImage } from '../screen/screen.js';
import type { Found } from './outcome.js';

const BUTTON_NAMES: Readonly<Record<MouseButton, Button>> = {
  1: 'left',
  2: 'wheel',
  3: 'right',
  8: 'back',
  9: 'forward',
};

/** Of images in the results of actions. */
export const PNG = { format: 'png', quality: 100, scale: 1 } as const;

/** What carries out a step. */
export interface StepMeans {
  readonly desktop: Desktop;
  /** Takes the images of a batch, which are bounded. */
  readonly capture: (request: ImageRequest) => Promise<ScreenImage>;
  /** Buttons that are down, of this batch and of earlier ones. */
  readonly pressed: Set<MouseButton>;
}

/** Steps that only find something out. */
export type Look = Extract<
  Step,
  { readonly do: 'screenshot' | 'zoom' | 'cursor_position' | 'clipboard_get' }
>;

/** Steps that do something, but for moves, of which several are one motion. */
export type Act = Exclude<Step, Look | { readonly do: 'move' }>;

const LOOKS: ReadonlySet<Step['do']> = new Set<Look['do']>([
  'screenshot',
  'zoom',
  'cursor_position',
  'clipboard_get',
]);

export const isLook = (step: Step): step is Look => LOOKS.has(step.do);

export const performLook = async (step: Look, { desktop, capture }: StepMeans): Promise<Found> => {
  switch (step.do) {
    case 'screenshot':
      return { kind: 'image', image: await capture({ ...PNG, size: step.size }) };
    case 'zoom':
      return { kind: 'image', image: await capture({ ...PNG, region: step.region, size: step.size }) };
    case 'cursor_position':
      return { kind: 'position', ...(await desktop.pointer.position()) };
    case 'clipboard_get':
      return { kind: 'text', text: firstCharacters(await desktop.clipboard.read(), step.characters) };
  }
};

/** When `signal` aborts, it does no more of the step and throws. */
export const performAct = async (
  step: Act,
  { desktop: { pointer, keyboard, clipboard }, pressed }: StepMeans,
  signal: AbortSignal,
): Promise<void> => {
  switch (step.do) {
    case 'button_down':
      pressed.add(step.button);
      return pointer.down(BUTTON_NAMES[step.button]);
    case 'button_up':
      pressed.delete(step.button);
      return pointer.up(BUTTON_NAMES[step.button]);
    case 'scroll':
      return pointer.scroll(await pointer.position(), step);
    case 'keys_down':
      for (const key of step.keys) await keyboard.down(key);
      return;
    case 'keys_up':
      for (const key of step.keys) await keyboard.up(key);
      return;
    case 'chord':
      for (let time = 0; time < step.times; time++) {
        signal.throwIfAborted();
        await keyboard.chord(step.keys);
      }
      return;
    case 'type':
      return keyboard.type(step.text, signal);
    case 'wait':
      await delay(step.ms, undefined, { signal });
      return;
    case 'clipboard_set':
      return clipboard.write(step.text);
  }
};

/** Moves through points: as a person drags while a button is down, else at once. */
export const performMoves = async (
  path: readonly Point[],
  { desktop: { pointer }, pressed }: StepMeans,
  signal: AbortSignal,
): Promise<void> => {
  if (pressed.size > 0) return pointer.follow(path, signal);
  for (const point of path) {
    signal.throwIfAborted();
    await pointer.move(point);
  }
};

const firstCharacters = (text: string, characters: number): string =>
  text.length <= characters ? text : Array.from(text).slice(0, characters).join('');
