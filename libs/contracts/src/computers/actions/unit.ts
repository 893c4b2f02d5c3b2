import type { Step } from './step.js';

/** A check that OpenAI wants a person to acknowledge before the actions of an item. */
export type SafetyCheck = {
  readonly id: string;
  readonly code?: string | null;
  readonly message?: string | null;
};

/** In whose form the result of a unit is answered, beside ours. */
export type Vendor =
  | { readonly kind: 'none' }
  | {
      readonly kind: 'tool_use';
      readonly id: string;
      readonly toolset: string | null;
      /** Said on success, unless there is an image or a position. */
      readonly text: string;
    }
  | { readonly kind: 'computer_call'; readonly callId: string; readonly checks: readonly SafetyCheck[] };

/** What has one result: an action, a block or an item. */
export interface Unit {
  /** The name of the action, or `computer_call`. */
  readonly type: string;
  /** The steps of each action. The first action that fails is the last that is begun. */
  readonly actions: readonly (readonly Step[])[];
  readonly vendor: Vendor;
}

/** Whether a unit is answered with an image of the still screen, however it ends and also if it is skipped. */
export const hasClosingImage = ({ vendor }: Unit): boolean => vendor.kind === 'computer_call';
