import { Clock } from '@berth/kernel';
import { Injectable } from '@nestjs/common';
import { deliveryIdOf } from './delivery-id.js';
import type { DueEntry, OpenFiring } from '../due-list/due-list.query.js';
import { NextWakes } from '../publish/next-wakes.js';
import type { FiringError } from '../schedule/schedule.js';
import { ScheduleStreams } from '../schedule/schedule.streams.js';
import { systemOrigin } from './system-origin.js';

/** How a firing ended. */
export interface FiringOutcome {
  readonly ran: boolean;
  readonly error: FiringError | null;
}

/** Records firings and how they ended. */
@Injectable()
export class FireCommandHandler {
  constructor(
    private readonly streams: ScheduleStreams,
    private readonly nextWakes: NextWakes,
    private readonly clock: Clock,
  ) {}

  /**
   * Logs the firing before anything is done about it; of any number of processes, the log accepts that of one. Returns null
   * if the entry is not due: another process has fired it, or its agent has published another list.
   */
  async fire({ agentId, entryId, accountId, dueAt }: DueEntry): Promise<OpenFiring | null> {
    const deliveryId = deliveryIdOf({ agentId, entryId, dueAt });
    const command = { type: 'Fire', agentId, entryId, dueAt, deliveryId, now: this.clock.now() } as const;
    const origin = systemOrigin(accountId, `${deliveryId}/fired`);
    const handled = await this.streams.handle(agentId, command, origin);
    const [fired] = handled.events;
    if (fired?.type !== 'ScheduleFired' || handled.replayed) return null;
    void this.nextWakes.tell(agentId, handled);
    return { deliveryId, agentId, accountId };
  }

  async end({ agentId, accountId, deliveryId }: OpenFiring, outcome: FiringOutcome): Promise<void> {
    const command = { type: 'End', agentId, deliveryId, ...outcome, now: this.clock.now() } as const;
    await this.streams.handle(agentId, command, systemOrigin(accountId, `${deliveryId}/ended`));
  }
}
