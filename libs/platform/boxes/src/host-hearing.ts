import { EventStore } from '@berth/event-store';
import { logIdentity, NatsLink } from '@berth/messaging';
import { within } from '@berth/supervision';
import { Injectable } from '@nestjs/common';

const PROVEN_WITHIN_MS = 2_000;

/** Whether an announcement of a host would be heard now. The directory of hosts, which is read anyway, is the third part. */
@Injectable()
export class HostHearing {
  constructor(
    private readonly link: NatsLink,
    private readonly store: EventStore,
  ) {}

  /** Asks the broker and the log; a part that does not respond within 2 s hears nothing. */
  async isProven(): Promise<boolean> {
    const responses = Promise.all([this.link.connection.flush(), logIdentity(this.store)]);
    const heard = responses.then(
      () => true,
      () => false,
    );
    return within(PROVEN_WITHIN_MS, heard, false);
  }
}
