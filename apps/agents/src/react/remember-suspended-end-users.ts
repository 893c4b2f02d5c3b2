import { endUsersEvents, type EndUserEventPayload } from '@berth/contracts/end-users';
import { ConsumeEvents } from '@berth/service';
import { Injectable } from '@nestjs/common';
import { EndUserSuspensions, RememberSuspensions } from '@berth/boxes';

/** The suspensions that `end-users` could not tell by a request. */
@ConsumeEvents({
  context: 'end-users',
  durable: 'agents__end-user-standing',
  events: [endUsersEvents.suspended, endUsersEvents.resumed],
})
@Injectable()
export class RememberSuspendedEndUsers extends RememberSuspensions<EndUserEventPayload> {
  constructor(suspensions: EndUserSuspensions) {
    super(suspensions, endUsersEvents.suspended, ({ endUserId }) => endUserId);
  }
}
