import { endUsersRequests } from '@berth/contracts/end-users';
import { Requester } from '@berth/messaging';
import { Logger } from '@berth/telemetry';
import { Inject, Injectable } from '@nestjs/common';

/** `end-users` shows activity to the minute; a report costs a request. */
const EVERY_MS = 30_000;
const MAX_REMEMBERED = 10_000;

/** Tells `end-users` that an agent of an end user is in use. */
@Injectable()
export class EndUserUses {
  readonly #toldAt = new Map<string, number>();

  constructor(
    @Inject(Requester) private readonly requester: Pick<Requester, 'request'>,
    private readonly log: Logger,
  ) {}

  /** In the background, at most once in 30 s for each end user: the next use makes up for a lost report. */
  note(endUserId: string): void {
    const now = Date.now();
    if (now - (this.#toldAt.get(endUserId) ?? 0) < EVERY_MS) return;
    // Forgetting costs at most one more report of each end user.
    if (this.#toldAt.size >= MAX_REMEMBERED) this.#toldAt.clear();
    this.#toldAt.set(endUserId, now);
    this.requester.request(endUsersRequests.noteActivity, { endUserId }).catch((error: unknown) => {
      this.#toldAt.delete(endUserId);
      this.log.debug({ endUserId, err: error }, 'could not report the activity of an end user');
    });
  }
}
