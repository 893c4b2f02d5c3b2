import { isDomainError, type DomainError } from '@berth/kernel';
import type { FieldProblem } from './reading.js';
import { planActions } from './plan-actions.js';
import type { Size } from './step.js';

export const DISPLAY: Size = { width: 1_280, height: 800 };

/** The refusal of a body. */
export const refusalOf = (body: unknown, display = DISPLAY): DomainError => {
  try {
    planActions(body, display);
  } catch (error) {
    if (isDomainError(error)) return error;
    throw error;
  }
  throw new Error('it was not refused');
};

/** The paths of all that is wrong with a body. */
export const pathsOf = (body: unknown, display = DISPLAY): readonly string[] =>
  (refusalOf(body, display).context['fields'] as readonly FieldProblem[]).map(({ path }) => path);
