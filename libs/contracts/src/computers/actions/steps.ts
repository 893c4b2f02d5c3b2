import { toDisplay, zoomedSize, type Screen } from './screen.js';
import type { MouseButton, Point, Region, Step } from './step.js';

export const LEFT: MouseButton = 1;
export const MIDDLE: MouseButton = 2;
export const RIGHT: MouseButton = 3;

/** Most characters of the clipboard in an answer. */
export const CLIPBOARD_CHARACTERS = 262_144;

export const moveTo = (point: Point): Step => ({ do: 'move', ...point });

/** To a point that the caller sees. */
export const moveToSeen = (seen: Point, screen: Screen): Step => moveTo(toDisplay(screen, seen));

export const click = (button: MouseButton, times: number): readonly Step[] =>
  Array.from({ length: times }, () => [press(button), release(button)]).flat();

export const press = (button: MouseButton): Step => ({ do: 'button_down', button });
export const release = (button: MouseButton): Step => ({ do: 'button_up', button });

export const drag = (from: Point | null, ...to: readonly Point[]): readonly Step[] => [
  { do: 'drag', from, to },
];

/** Notches, positive right and down. */
export const scroll = (right: number, down: number): readonly Step[] =>
  right === 0 && down === 0 ? [] : [{ do: 'scroll', right, down }];

/** The steps while the keys are held. */
export const holding = (keys: readonly number[], steps: readonly Step[]): readonly Step[] =>
  keys.length === 0 ? steps : [{ do: 'keys_down', keys }, ...steps, { do: 'keys_up', keys }];

export const chord = (keys: readonly number[], times: number): readonly Step[] => [
  { do: 'chord', keys, times },
];

export const typing = (text: string): readonly Step[] => (text === '' ? [] : [{ do: 'type', text }]);

export const waiting = (ms: number): Step => ({ do: 'wait', ms });

export const screenshot = ({ size }: Screen): readonly Step[] => [{ do: 'screenshot', size }];

export const zoom = (region: Region, screen: Screen): readonly Step[] => [
  { do: 'zoom', region, size: zoomedSize(screen, region) },
];
