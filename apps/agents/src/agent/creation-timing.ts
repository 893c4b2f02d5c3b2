import { Injectable } from '@nestjs/common';

/** A creation returns within this time of its call, if its caller is to have the response within 5 s. */
export const RETURNED_WITHIN_MS = 4_500;

/** Time limits of creations, in milliseconds. */
@Injectable()
export class CreationTiming {
  /** A creation that has not created its agent after this time counts as abandoned by its process. */
  readonly unfinishedAfterMs: number = 10_000;
  /** A creation that fails returns its error once it is undone, but at the latest this long after the call. */
  readonly undoneWithinMs: number = RETURNED_WITHIN_MS;
}
