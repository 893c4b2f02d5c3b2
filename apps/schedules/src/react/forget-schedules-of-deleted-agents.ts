import { agentsEvents, type AgentLifecycleEvent } from '@berth/contracts/agents';
import type { ReceivedEvent } from '@berth/messaging';
import { ConsumeEvents, type EventReaction } from '@berth/service';
import { Injectable } from '@nestjs/common';
import { ScheduleStreams } from '../schedule/schedule.streams.js';

/** Clears the schedules of a deleted agent. */
@ConsumeEvents({ context: 'agents', durable: 'schedules__forget', events: [agentsEvents.deleted] })
@Injectable()
export class ForgetSchedulesOfDeletedAgents implements EventReaction<AgentLifecycleEvent> {
  constructor(private readonly streams: ScheduleStreams) {}

  /** The command's id is the event's, so a second delivery of the event changes nothing. */
  async handle({ id: commandId, payload }: ReceivedEvent<AgentLifecycleEvent>): Promise<void> {
    const { agentId, accountId, at } = payload;
    const origin = { commandId, accountId, actor: { kind: 'system', id: 'schedules' } } as const;
    await this.streams.handle(agentId, { type: 'Forget', agentId, accountId, now: Date.parse(at) }, origin);
  }
}
