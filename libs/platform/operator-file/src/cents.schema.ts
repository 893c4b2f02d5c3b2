import { parseCents } from '@berth/kernel';
import Type from 'typebox';

/** Numbers up to this have six decimals without loss. */
const MAX_CENTS = 1_000_000_000;

/** A price or a rate in cents. */
export const cents = (description: string) =>
  Type.Refine(
    Type.Number({ minimum: 0, maximum: MAX_CENTS, description }),
    (value) => parseCents(value) !== undefined,
    () => 'must have at most 6 decimals',
  );
