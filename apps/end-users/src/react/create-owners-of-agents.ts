import { agentsEvents, type AgentLifecycleEvent } from '@berth/contracts/agents';
import { isDomainError, type Actor, type CommandEnvelope } from '@berth/kernel';
import type { ReceivedEvent } from '@berth/messaging';
import { ConsumeEvents, type EventReaction } from '@berth/service';
import { Inject, Injectable } from '@nestjs/common';
import { AgentsOfEndUser } from '../agents-of-end-user.js';
import { EndUserStreams } from '../end-user/end-user.streams.js';
import { EndUserWrites } from '../end-user/end-user-writes.js';

const SYSTEM: Actor = { kind: 'system', id: 'end-users' };

/**
 * Completes creations of agents that were interrupted after the agent was in the log: creates its end user, or deletes the
 * agent if the end user has been deleted since.
 */
@ConsumeEvents({ context: 'agents', durable: 'end-users__owners', events: [agentsEvents.created] })
@Injectable()
export class CreateOwnersOfAgents implements EventReaction<AgentLifecycleEvent> {
  constructor(
    @Inject(EndUserStreams) private readonly streams: Pick<EndUserStreams, 'load'>,
    @Inject(EndUserWrites) private readonly writes: Pick<EndUserWrites, 'createEnlisted'>,
    @Inject(AgentsOfEndUser) private readonly agents: Pick<AgentsOfEndUser, 'externalIdOf' | 'delete'>,
  ) {}

  /** A repeated event changes nothing. */
  async handle({
    payload: { accountId, agentId, endUserId = null, createdBy },
  }: ReceivedEvent<AgentLifecycleEvent>): Promise<void> {
    if (endUserId === null) return;
    const { state } = await this.streams.load(endUserId);
    if (state.kind === 'live') return;
    const envelope: CommandEnvelope = { commandId: `${agentId}/owner`, accountId, actor: SYSTEM };
    if (state.kind === 'deleted') return this.agents.delete(envelope, agentId);
    // This may come before the creation itself gets that far; the audit names the same actor in both cases.
    const actor = createdBy ?? SYSTEM;
    try {
      const externalId = await this.agents.externalIdOf(accountId, agentId);
      if (externalId !== null)
        await this.writes.createEnlisted({ ...envelope, actor, externalId, endUserId });
    } catch (error) {
      // The agent is gone.
      if (!isDomainError(error) || error.code !== 'agent_not_found') throw error;
    }
  }

  /** It remembers nothing. */
  forgetAfter(): Promise<void> {
    return Promise.resolve();
  }
}
