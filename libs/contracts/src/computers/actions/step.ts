/** Whole pixels. */
export interface Point {
  readonly x: number;
  readonly y: number;
}

/** Whole pixels, at least 1 each. */
export interface Size {
  readonly width: number;
  readonly height: number;
}

export interface Region extends Point, Size {}

/** X's numbers of the mouse buttons. */
export type MouseButton = 1 | 2 | 3 | 8 | 9;

/**
 * What a desktop does in one go. Pixels are those of the display; `size` is that of the image to make. Keys are X
 * keysyms: a desktop that has no key for one, or only with a modifier, provides it.
 */
export type Step =
  | ({ readonly do: 'move' } & Point)
  | { readonly do: 'button_down' | 'button_up'; readonly button: MouseButton }
  /**
   * With the left button, which is up again afterwards, also if it fails; from where the pointer is if `from` is null.
   * Between the points the desktop moves and rests as a person does: a program begins to drag only when it sees the
   * pointer on its way.
   */
  | { readonly do: 'drag'; readonly from: Point | null; readonly to: readonly Point[] }
  /** Notches of the wheel, positive right and down. */
  | { readonly do: 'scroll'; readonly right: number; readonly down: number }
  /**
   * In this order. After a `keys_down` of the same action a `keys_up` lets go only those keys that this `keys_down` has
   * pressed: one that was down before, held by a `key_down`, stays down. Alone it lets go all of its keys.
   */
  | { readonly do: 'keys_down' | 'keys_up'; readonly keys: readonly number[] }
  /** All down in this order, all up in the reverse one, `times` times; a key that was down before stays down. */
  | { readonly do: 'chord'; readonly keys: readonly number[]; readonly times: number }
  | { readonly do: 'type'; readonly text: string }
  | { readonly do: 'wait'; readonly ms: number }
  | { readonly do: 'screenshot'; readonly size: Size }
  /** The image has this size, which is not computed again: it is rounded here. */
  | { readonly do: 'zoom'; readonly region: Region; readonly size: Size }
  | { readonly do: 'cursor_position' }
  /** The first `characters` of it. */
  | { readonly do: 'clipboard_get'; readonly characters: number }
  | { readonly do: 'clipboard_set'; readonly text: string };

/**
 * The steps that let go what the steps of an action pressed before the one at `failed`, which did not succeed. Without
 * them a failed click would leave its button pressed.
 */
export const stepsAfterFailure = (steps: readonly Step[], failed: number): readonly Step[] => {
  const pressed = new Set(steps.slice(0, failed + 1).flatMap(pressedBy));
  return steps.slice(failed).filter((step) => releasedBy(step).some((one) => pressed.has(one)));
};

const pressedBy = (step: Step): readonly string[] =>
  step.do === 'button_down' || step.do === 'keys_down' ? namesOf(step) : [];

const releasedBy = (step: Step): readonly string[] =>
  step.do === 'button_up' || step.do === 'keys_up' ? namesOf(step) : [];

const namesOf = (
  step: Extract<Step, { readonly button: MouseButton } | { readonly keys: readonly number[] }>,
) => ('button' in step ? [`button ${step.button}`] : step.keys.map((key) => `key ${key}`));
