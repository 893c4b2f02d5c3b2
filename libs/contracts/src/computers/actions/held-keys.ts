import type { Step } from './step.js';

/**
 * The steps of all actions of a batch, of which none presses a key again that an earlier `key_down` holds: letting it go
 * afterwards would end the hold.
 */
export const sparingHeldKeys = (actions: readonly (readonly Step[])[]): readonly (readonly Step[])[] => {
  const held = new Set<number>();
  return actions.map((steps) => {
    const only = steps.length === 1 ? steps[0] : undefined;
    if (only?.do === 'keys_down') only.keys.forEach((key) => held.add(key));
    else if (only?.do === 'keys_up') only.keys.forEach((key) => held.delete(key));
    else if (held.size > 0) return steps.flatMap((step) => without(held, step));
    return steps;
  });
};

const without = (held: ReadonlySet<number>, step: Step): readonly Step[] => {
  if (step.do !== 'keys_down' && step.do !== 'keys_up' && step.do !== 'chord') return [step];
  const keys = step.keys.filter((key) => !held.has(key));
  if (keys.length > 0) return [{ ...step, keys }];
  return step.do === 'chord' ? [step] : [];
};
