import type {
  ActionError,
  Image,
  PlanOutcome,
  Point,
  Seen,
  UnitOutcome,
} from '@berth/contracts/computers/plan';
import type { ScreenImage } from '../screen/screen.js';

/** What an action was to find out; images are not in base64 yet, which takes a third more memory. */
export type Found =
  | Exclude<Seen, { readonly kind: 'image' }>
  | { readonly kind: 'image'; readonly image: ScreenImage };

/** What came of a unit that was begun. */
export type UnitResult = { readonly error: ActionError | null } & (
  | { readonly seen: Found | null; readonly closing?: never }
  | { readonly closing: ScreenImage; readonly seen?: never }
);

/** What came of a batch. */
export interface BatchOutcome {
  readonly units: readonly UnitResult[];
  readonly cursor: Point;
  readonly closing: ScreenImage | null;
  readonly durationMs: number;
}

/** The line with the JSON of the `PlanOutcome`, in pieces of at most one image. */
export const piecesOf = function* ({ units, ...rest }: BatchOutcome): Generator<string> {
  yield '{"units":[';
  for (const [index, unit] of units.entries())
    yield `${index === 0 ? '' : ','}${JSON.stringify(toUnitOutcome(unit))}`;
  const last: Omit<PlanOutcome, 'units'> = {
    ...rest,
    closing: rest.closing === null ? null : toImage(rest.closing),
  };
  yield `],${JSON.stringify(last).slice(1)}\n`;
};

const toUnitOutcome = ({ error, seen, closing }: UnitResult): UnitOutcome => {
  if (closing !== undefined) return { error, closing: toImage(closing) };
  return { error, seen: seen?.kind === 'image' ? { ...seen, image: toImage(seen.image) } : (seen ?? null) };
};

const toImage = ({ format, width, height, data, capturedAt }: ScreenImage): Image => ({
  format,
  width,
  height,
  data: data.toString('base64'),
  capturedAt: new Date(capturedAt).toISOString(),
});
