import { endUsersEvents, type EndUserEventPayload } from '@berth/contracts/end-users';
import type { ReceivedEvent } from '@berth/messaging';
import type { SqlRunner } from '@berth/persistence';
import { ConsumeEvents, type EventReaction } from '@berth/service';
import { Injectable } from '@nestjs/common';
import { EndUserSuspensions } from '../suspension/end-user-suspensions.js';

/**
 * The suspensions that `end-users` could not tell by a request. The reconciler puts the agents of a suspended end user to
 * sleep, also those that were about to wake.
 */
@ConsumeEvents({
  context: 'end-users',
  durable: 'agents__end-user-standing',
  events: [endUsersEvents.suspended, endUsersEvents.resumed],
})
@Injectable()
export class RememberSuspendedEndUsers implements EventReaction<EndUserEventPayload> {
  constructor(private readonly suspensions: EndUserSuspensions) {}

  async handle(event: ReceivedEvent<EndUserEventPayload>, tx: SqlRunner): Promise<void> {
    const suspended = event.name === endUsersEvents.suspended.name;
    const { endUserId } = event.payload;
    await this.suspensions.remember({ endUserId, suspended, position: event.position }, tx);
  }

  /** Call it when the log was replaced or restored. */
  forgetAfter(position: bigint | null, tx: SqlRunner): Promise<void> {
    return this.suspensions.forgetAfter(tx, position);
  }
}
