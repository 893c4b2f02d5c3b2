import type { AgentCommand as AgentRequest, AgentView, CreateAgent } from '@berth/contracts-agents';
import { newId } from '@berth/kernel';
import type { Logger } from '@berth/telemetry';
import type { AgentListQuery } from '../agent-list/agent-list.query.js';
import type { EnvVault } from '../env/env-vault.js';
import type { HostDirectory } from '../host/host-directory.js';
import type { Claim, Reservations } from '../reservation/reservations.js';
import type { TemplateCatalogue } from '../templates/template-catalogue.js';
import type { AgentCommandHandler } from './agent.command-handler.js';
import type { AgentLifecycle } from './agent-lifecycle.js';
import { ofAccount } from './ensure-awake.js';
import type { Profile } from './agent.js';

const DEFAULT_IDLE_TTL_SECONDS = 900;

export interface Registry {
  readonly reservations: Reservations;
  readonly templates: TemplateCatalogue;
  readonly hosts: HostDirectory;
  readonly vault: EnvVault;
}

/** Agents come and go here: names are claimed first and freed last but for the removal itself. */
export class AgentRegistration {
  constructor(
    private readonly agents: AgentCommandHandler,
    private readonly lifecycle: AgentLifecycle,
    private readonly registry: Registry,
    private readonly query: AgentListQuery,
    private readonly log: Logger,
  ) {}

  /** Errors: invalid `unknown_template`; conflict `agent_name_taken`, `external_id_taken`; unavailable without a host. */
  async create(request: CreateAgent): Promise<AgentView> {
    const profile = await this.profile(request);
    const agentId = newId('agt');
    const claims = claimsOf(agentId, profile);
    const held: Claim[] = [];
    try {
      for (const claim of claims) {
        await this.registry.reservations.claim(claim, request);
        held.push(claim);
      }
      const host = await this.registry.hosts.place();
      await this.registry.vault.putAll(agentId, request.env);
      await this.agents.handle(
        agentId,
        { type: 'Create', agentId, profile, host, at: new Date().toISOString() },
        request,
      );
    } catch (error) {
      await this.undo(agentId, held, request);
      throw error;
    }
    void this.lifecycle.drive(agentId);
    return await this.query.get(request.accountId, agentId);
  }

  /** From the answer on every read is not found and the name is free; the removal goes on behind it. */
  async delete(request: AgentRequest): Promise<void> {
    const agent = ofAccount(await this.agents.load(request.agentId), request.accountId);
    await this.agents.handle(
      request.agentId,
      { type: 'RequestDeletion', at: new Date().toISOString() },
      request,
    );
    for (const claim of claimsOf(request.agentId, agent.profile))
      await this.registry.reservations.release(claim, request);
    void this.lifecycle.drive(request.agentId);
  }

  /** Whether nobody is left behind an old reservation; a creation still under way is ended for good. */
  async isGone(agentId: string): Promise<boolean> {
    const origin = {
      commandId: `${agentId}/abandon`,
      accountId: '',
      actor: { kind: 'system', id: 'agents' },
    } as const;
    const agent = await this.agents.handle(
      agentId,
      { type: 'AbandonCreation', agentId, at: new Date().toISOString() },
      origin,
    );
    return agent.status !== 'live';
  }

  private async profile(request: CreateAgent): Promise<Profile> {
    const template = this.registry.templates.get(request.templateId);
    const { accountId, name, templateId, externalId, externalUserId, instructions, labels, idleTtlSeconds } =
      request;
    return {
      accountId,
      name,
      templateId,
      externalId,
      externalUserId,
      instructions,
      labels,
      idleTtlSeconds: idleTtlSeconds ?? DEFAULT_IDLE_TTL_SECONDS,
      resources: { ...template.resources, ...request.resources },
    };
  }

  /** The append may have been carried out although its answer was lost: the stream decides. */
  private async undo(agentId: string, held: readonly Claim[], request: CreateAgent): Promise<void> {
    try {
      if (held.length === 0 || !(await this.isGone(agentId))) return;
      await this.registry.vault.forget(agentId);
      for (const claim of held) await this.registry.reservations.release(claim, request);
    } catch (error) {
      // Whoever meets the reservation later resolves it.
      this.log.warn({ agentId, err: error }, 'a creation that failed could not be undone at once');
    }
  }
}

const claimsOf = (agentId: string, profile: Profile): readonly Claim[] => {
  const { accountId, name, externalId } = profile;
  const byName: Claim = { kind: 'agentName', accountId, value: name, agentId };
  return externalId === null
    ? [byName]
    : [byName, { kind: 'agentExternalId', accountId, value: externalId, agentId }];
};
