import type { Image } from './outcome.js';
import type { SafetyCheck, Vendor } from './unit.js';

/** OpenAI's answer to a `computer_call` item. */
export type ComputerCallOutput = {
  readonly type: 'computer_call_output';
  readonly call_id: string;
  readonly output: { readonly type: 'computer_screenshot'; readonly image_url: string };
  readonly acknowledged_safety_checks?: readonly SafetyCheck[];
};

export const computerCallOutput = (
  { callId, checks }: Extract<Vendor, { readonly kind: 'computer_call' }>,
  image: Image,
): ComputerCallOutput => ({
  type: 'computer_call_output',
  call_id: callId,
  output: {
    type: 'computer_screenshot',
    image_url: `data:image/${image.format};base64,${image.data}`,
  },
  ...(checks.length === 0 ? {} : { acknowledged_safety_checks: checks }),
});
