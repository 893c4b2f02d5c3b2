import type { Point } from './step.js';

export type Image = {
  readonly format: 'png' | 'jpeg';
  readonly width: number;
  readonly height: number;
  /** In base64. */
  readonly data: string;
  /** ISO 8601. */
  readonly capturedAt: string;
};

/** What an action was to find out. */
export type Seen =
  /** Of the pointer. */
  | ({ readonly kind: 'position' } & Point)
  /** Of the clipboard. */
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'image'; readonly image: Image };

export type ActionError = {
  readonly code: string;
  readonly message: string;
};

/** What came of a unit that was begun. */
export interface UnitOutcome {
  readonly error: ActionError | null;
  /** Of a unit with `closing` the closing image, whether it failed or not. */
  readonly seen?: Seen;
}

/** What a desktop reports of a plan. Positions are pixels of the display. */
export interface PlanOutcome {
  /** Of the units that were begun, in their order. */
  readonly units: readonly UnitOutcome[];
  readonly cursor: Point;
  /** The closing image of the plan. */
  readonly screenshot?: Image;
  /** The still screen after the last unit that was begun, if a unit with `closing` was skipped. */
  readonly afterFailure?: Image;
  readonly durationMs: number;
}
