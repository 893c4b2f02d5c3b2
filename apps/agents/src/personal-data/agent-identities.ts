import type { AgentView } from '@berth/contracts/agents';
import type { Policy } from '@berth/contracts/schema';
import { DomainError } from '@berth/kernel';
import { type Personal, KeptKeys } from '@berth/personal-data';
import { Injectable } from '@nestjs/common';
import { identityColumns } from '../agent-list/agent-row.js';
import { viewOf, type Activity } from '../agent-list/agent-view.js';
import type { AgentIdentity } from '../agent/agent.js';
import type { AgentWithRow } from '../agent/agent.streams.js';
import { identityFrom } from './agent-identity.js';

/** Opens what the state of an agent holds sealed. */
@Injectable()
export class AgentIdentities {
  constructor(private readonly keys: KeptKeys) {}

  /** Errors: not_found `agent_not_found` if its end user is deleted. */
  async of(agentId: string, personal: Personal<AgentIdentity>): Promise<AgentIdentity> {
    const key = personal.endUserId === null ? null : await this.keys.find(personal.endUserId);
    const identity = identityFrom(key, agentId, personal);
    if (identity === null) throw notFound();
    return identity;
  }

  /** The view of a live agent. Errors: as `of`; also for any other agent. */
  async view(
    { agent, row }: AgentWithRow,
    activity: Activity | null,
    policy: Policy | null,
    nextWakeAt: string | null,
  ): Promise<AgentView> {
    if (agent.status !== 'live' || row === null) throw notFound();
    const { agentId, profile } = agent;
    if (profile.personal.endUserId === null) return viewOf(row, activity, policy, nextWakeAt);
    const identity = await this.of(agentId, profile.personal);
    return viewOf({ ...row, ...identityColumns(identity) }, activity, policy, nextWakeAt);
  }
}

const notFound = (): DomainError =>
  new DomainError('not_found', 'agent_not_found', 'There is no such agent.');
