import type { MouseButton, Step } from '@berth/contracts/computers';

/**
 * The steps that let go what the steps of an action pressed before the one at `failed`, which did not succeed. Without
 * them a failed drag would leave its button pressed.
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
