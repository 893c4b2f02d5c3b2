import { agentsRequests, type AgentView } from '@berth/contracts/agents';
import { isDomainError, stepOf, type CommandEnvelope } from '@berth/kernel';
import { Requester } from '@berth/messaging';
import { Logger } from '@berth/telemetry';
import { Inject, Injectable } from '@nestjs/common';
import type { LiveEndUser } from './end-user/end-user.js';

const PAGE = 200;

interface Person {
  readonly accountId: string;
  readonly endUserId: string;
  readonly externalId: string;
}

/** The agents of end users, as `agents` knows them. */
@Injectable()
export class AgentsOfEndUser {
  constructor(
    @Inject(Requester) private readonly requester: Pick<Requester, 'request'>,
    private readonly log: Logger,
  ) {}

  /** Returns every agent of the end user, newest first, and none of an earlier or later one with its external id. */
  async list({ accountId, endUserId, externalId: externalUserId }: Person): Promise<readonly AgentView[]> {
    const agents: AgentView[] = [];
    const filter = { externalId: null, state: null, name: null, label: null };
    let cursor: string | null = null;
    do {
      const page: { items: readonly AgentView[]; nextCursor: string | null } = await this.requester.request(
        agentsRequests.list,
        { accountId, externalUserId, endUserId, ...filter, cursor, limit: PAGE },
      );
      agents.push(...page.items);
      cursor = page.nextCursor;
    } while (cursor !== null);
    return agents;
  }

  /** Returns the number of agents of each end user; one without agents is absent. */
  async count(accountId: string, externalUserIds: readonly string[]): Promise<ReadonlyMap<string, number>> {
    if (externalUserIds.length === 0) return new Map();
    const { counts } = await this.requester.request(agentsRequests.countOfEndUsers, {
      accountId,
      externalUserIds,
    });
    // Not the object itself: `constructor` is an external id, and a member of every object.
    return new Map(Object.entries(counts));
  }

  /**
   * `position`: that of the event in the log. Once it returns, no agent of a suspended end user takes a call. If `agents` cannot be reached, the event
   * does the same as soon as it can be.
   */
  async setStanding({ endUserId, suspendedAt }: LiveEndUser, position: bigint): Promise<void> {
    const suspended = suspendedAt !== null;
    const standing = { endUserId, suspended, position: position.toString() };
    try {
      await this.requester.request(agentsRequests.setEndUserStanding, standing);
    } catch (error) {
      this.log.warn({ err: error, endUserId }, 'the agents of an end user follow its standing later');
    }
  }

  /** Returns once no agent of the end user is left. */
  async deleteAll(envelope: CommandEnvelope, person: Person): Promise<void> {
    const deleted = new Set<string>();
    for (;;) {
      const left = (await this.list(person)).filter(({ id }) => !deleted.has(id));
      if (left.length === 0) return;
      await Promise.all(left.map(({ id }) => this.delete(envelope, id)));
      for (const { id } of left) deleted.add(id);
    }
  }

  /** Destroys the copy of the end user's key. */
  async forget(envelope: CommandEnvelope, endUserId: string): Promise<void> {
    await this.requester.request(agentsRequests.forgetEndUser, { ...stepOf(envelope, 'forget'), endUserId });
  }

  /** Returns the external id of the agent's owner. Errors: not_found `agent_not_found`. */
  async externalIdOf(accountId: string, agentId: string): Promise<string | null> {
    const agent = await this.requester.request(agentsRequests.get, { accountId, agentId, wait: null });
    return agent.externalUserId;
  }

  /** Deletes the agent unless it is gone. */
  async delete(envelope: CommandEnvelope, agentId: string): Promise<void> {
    try {
      await this.requester.request(agentsRequests.delete, {
        ...stepOf(envelope, `delete:${agentId}`),
        agentId,
      });
    } catch (error) {
      if (!isDomainError(error, 'not_found')) throw error;
    }
  }
}
