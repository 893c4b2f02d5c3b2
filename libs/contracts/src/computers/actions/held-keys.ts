import type { Step } from './step.js';
import type { Unit } from './unit.js';

/**
 * The units of a batch, in which no action presses a key again that an earlier `key_down` holds: letting it go afterwards
 * would end the hold.
 */
export const sparingHeldKeys = (units: readonly Unit[]): readonly Unit[] => {
  const held = new Set<number>();
  return units.map((unit) => ({ ...unit, actions: unit.actions.map((steps) => sparing(held, steps)) }));
};

/** Notes a `key_down` and a `key_up`, which are alone in their actions. */
const sparing = (held: Set<number>, steps: readonly Step[]): readonly Step[] => {
  const only = steps.length === 1 ? steps[0] : undefined;
  if (only?.do === 'keys_down') only.keys.forEach((key) => held.add(key));
  else if (only?.do === 'keys_up') only.keys.forEach((key) => held.delete(key));
  else return held.size === 0 ? steps : steps.flatMap((step) => without(held, step));
  return steps;
};

const without = (held: ReadonlySet<number>, step: Step): readonly Step[] => {
  if (step.do !== 'keys_down' && step.do !== 'keys_up' && step.do !== 'chord') return [step];
  const keys = step.keys.filter((key) => !held.has(key));
  if (keys.length > 0) return [{ ...step, keys }];
  return step.do === 'chord' ? [step] : [];
};
