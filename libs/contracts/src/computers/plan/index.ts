// What carries out a plan needs no more than this, and none of the schemas.
export { needsClosingImage, type ActionPlan } from '../actions/action-plan.js';
export type { ActionError, Image, PlanOutcome, Seen, UnitOutcome } from '../actions/outcome.js';
export { screenOf, type Screen } from '../actions/screen.js';
export {
  stepsAfterFailure,
  type MouseButton,
  type Point,
  type Region,
  type Size,
  type Step,
} from '../actions/step.js';
export { hasClosingImage, type SafetyCheck, type Unit, type Vendor } from '../actions/unit.js';
