import type { ReceivedEvent } from '@berth/messaging';
import type { SqlRunner } from '@berth/persistence';
import type { EventReaction } from '@berth/service';
import type { Suspensions } from './suspensions.js';

/** Stores suspensions and resumptions; a timer puts the boxes of suspended accounts and end users to sleep. */
export abstract class RememberSuspensions<Payload> implements EventReaction<Payload> {
  protected constructor(
    private readonly suspensions: Suspensions,
    private readonly suspended: { readonly name: string },
    private readonly idIn: (payload: Payload) => string,
  ) {}

  handle({ name, payload, position }: ReceivedEvent<Payload>, tx: SqlRunner): Promise<void> {
    const suspended = name === this.suspended.name;
    return this.suspensions.remember({ id: this.idIn(payload), suspended, position }, tx);
  }

  /** Call it when the log was replaced or restored. */
  forgetAfter(position: bigint | null, tx: SqlRunner): Promise<void> {
    return this.suspensions.forgetAfter(position, tx);
  }
}
