import { Injectable } from '@nestjs/common';

/** Time limits of creations, in milliseconds. */
@Injectable()
export class CreationTiming {
  /** A creation that has not created its agent after this time counts as abandoned by its process. */
  readonly unfinishedAfterMs: number = 10_000;
  /** The error of a failed creation waits until the creation is undone, but at most this long, counted from the call. */
  readonly undoneWithinMs: number = 4_500;
}
