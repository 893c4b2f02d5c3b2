import { Injectable } from '@nestjs/common';

/** Time limits of calls, in milliseconds. */
@Injectable()
export class CallTiming {
  /** An upstream that sends nothing for so long is given up. A model may think for long before it writes a word. */
  readonly silentMs: number = 900_000;
  /** How long a response is read for its usage after its caller has hung up. */
  readonly readOnMs: number = 600_000;
}
