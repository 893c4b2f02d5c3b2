import type { Screen } from './screen.js';
import { hasClosingImage, type Unit } from './unit.js';

/** What a desktop is to do for a request, and how its result is answered. */
export interface ActionPlan {
  /** Done in order, each with one result. */
  readonly units: readonly Unit[];
  /** Whether the first unit that fails is the last that is begun. */
  readonly stopOnError: boolean;
  /** Whether the answer is to show the still screen at the end. */
  readonly screenshot: boolean;
  /** Its `size` is that of the images of the still screen. */
  readonly screen: Screen;
  /** All waits and holds together, for the deadline. */
  readonly waitMs: number;
}

/** Whether an image of the still screen is due at the end, with this many units begun: items that are skipped show it. */
export const needsClosingImage = ({ screenshot, units }: ActionPlan, begun: number): boolean =>
  screenshot || units.slice(begun).some(hasClosingImage);
