import type { ActionError, Image, PlanOutcome, Point, Seen, UnitOutcome } from '@berth/contracts/computers';
import type { ScreenImage } from '../screen/screen.js';

/** What an action was to find out; images are not in base64 yet, which takes a third more memory. */
export type Found =
  | Exclude<Seen, { readonly kind: 'image' }>
  | { readonly kind: 'image'; readonly image: ScreenImage };

export interface FoundByUnit {
  readonly error: ActionError | null;
  readonly seen?: Found;
}

/** What came of a batch. */
export interface BatchOutcome {
  readonly units: readonly FoundByUnit[];
  readonly cursor: Point;
  readonly screenshot?: ScreenImage;
  readonly afterFailure?: ScreenImage;
  readonly durationMs: number;
}

/** The JSON of the `PlanOutcome`, in pieces of at most one image. */
export const piecesOf = function* (outcome: BatchOutcome): Generator<string> {
  const { units, cursor, screenshot, afterFailure, durationMs } = outcome;
  yield '{"units":[';
  for (const [index, unit] of units.entries())
    yield `${index === 0 ? '' : ','}${JSON.stringify(toWire(unit))}`;
  const rest: Omit<PlanOutcome, 'units' | 'screenshot' | 'afterFailure'> = { cursor, durationMs };
  yield `],${JSON.stringify(rest).slice(1, -1)}`;
  for (const [name, image] of Object.entries({ screenshot, afterFailure }))
    if (image !== undefined) yield `,"${name}":${JSON.stringify(toImage(image))}`;
  yield '}';
};

const toWire = ({ error, seen }: FoundByUnit): UnitOutcome =>
  seen?.kind === 'image'
    ? { error, seen: { kind: 'image', image: toImage(seen.image) } }
    : { error, ...(seen === undefined ? {} : { seen }) };

const toImage = ({ format, width, height, data, capturedAt }: ScreenImage): Image => ({
  format,
  width,
  height,
  data: data.toString('base64'),
  capturedAt: new Date(capturedAt).toISOString(),
});
