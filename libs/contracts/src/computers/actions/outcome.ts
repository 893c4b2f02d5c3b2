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

/** What came of a unit that was begun: what it found out, or the still screen after it if it `hasClosingImage`. */
export type UnitOutcome = { readonly error: ActionError | null } & (
  | { readonly seen: Seen | null; readonly closing?: never }
  | { readonly closing: Image; readonly seen?: never }
);

/** What a desktop reports of a plan. Positions are pixels of the display. */
export interface PlanOutcome {
  /** Of the units that were begun, in their order. */
  readonly units: readonly UnitOutcome[];
  readonly cursor: Point;
  /** The still screen at the end if the plan `needsClosingImage`, else null. */
  readonly closing: Image | null;
  readonly durationMs: number;
}
