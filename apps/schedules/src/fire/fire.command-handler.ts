import { Clock } from '@berth/kernel';
import { Injectable } from '@nestjs/common';
import { deliveryIdOf, firingIdOf } from './delivery-id.js';
import type { DueEntry, OpenFiring } from '../due-list/due-list.query.js';
import type { FiringError } from '../schedule/schedule.js';
import { ScheduleStreams } from '../schedule/schedule.streams.js';
import { systemOrigin } from './system-origin.js';

/** The outcome of a firing. */
export interface FiringOutcome {
  readonly ran: boolean;
  readonly error: FiringError | null;
}

/** Records firings and how they ended. */
@Injectable()
export class FireCommandHandler {
  constructor(
    private readonly streams: ScheduleStreams,
    private readonly clock: Clock,
  ) {}

  /**
   * Appends the firings of one agent before they are carried out. If several processes fire the same entries, only one of
   * them gets the firings. Entries that are no longer due are left out: another process has fired them, or the agent has
   * published another list.
   */
  async fire(entries: readonly [DueEntry, ...DueEntry[]]): Promise<readonly OpenFiring[]> {
    const [{ agentId, accountId }] = entries;
    const due = entries.map((entry) => ({ ...entry, deliveryId: deliveryIdOf(entry) }));
    const command = { type: 'Fire', agentId, due, now: this.clock.now() } as const;
    const origin = systemOrigin(accountId, firingIdOf(due.map(({ deliveryId }) => deliveryId)));
    const { events, replayed } = await this.streams.handle(agentId, command, origin);
    if (replayed) return [];
    return events.flatMap((event) =>
      event.type === 'ScheduleFired' ? [{ deliveryId: event.deliveryId, agentId, accountId }] : [],
    );
  }

  async end({ agentId, accountId, deliveryId }: OpenFiring, outcome: FiringOutcome): Promise<void> {
    const command = { type: 'End', agentId, deliveryId, ...outcome, now: this.clock.now() } as const;
    await this.streams.handle(agentId, command, systemOrigin(accountId, `${deliveryId}/ended`));
  }
}
