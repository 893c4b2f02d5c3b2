import { schedulesEvents, type NextWakeChanged } from '@berth/contracts/schedules';
import type { ReceivedEvent } from '@berth/messaging';
import type { SqlRunner } from '@berth/persistence';
import { ConsumeEvents, type EventReaction } from '@berth/service';
import { Injectable } from '@nestjs/common';
import { NextWakes } from '../next-wake/next-wakes.js';

/** Stores the next wakes that `schedules` could not report by request, and fills empty tables with all of them. */
@ConsumeEvents({
  context: 'schedules',
  durable: 'agents__next-wakes',
  events: [schedulesEvents.nextWakeChanged],
})
@Injectable()
export class RememberNextWakes implements EventReaction<NextWakeChanged> {
  constructor(private readonly nextWakes: NextWakes) {}

  async handle({ payload, position }: ReceivedEvent<NextWakeChanged>, tx: SqlRunner): Promise<void> {
    const { agentId, nextWakeAt } = payload;
    await this.nextWakes.note({ agentId, nextWakeAt, position: position.toString() }, tx);
  }

  /** Call it when the log was replaced or restored. */
  forgetAfter(position: bigint | null, tx: SqlRunner): Promise<void> {
    return this.nextWakes.forgetAfter(tx, position);
  }
}
