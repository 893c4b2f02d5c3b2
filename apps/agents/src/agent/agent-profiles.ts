import type { CreateAgent } from '@berth/contracts/agents';
import { Injectable } from '@nestjs/common';
import { toPersonalIdentity } from '../personal-data/agent-identity.js';
import { ResourceOwners } from '@berth/personal-data';
import { TemplateCatalogue } from '../templates/template-catalogue.js';
import type { AgentIdentity, Profile } from './agent.js';

const DEFAULT_IDLE_TTL_SECONDS = 900;

/** The profiles of agents that are to be created. */
@Injectable()
export class AgentProfiles {
  constructor(
    private readonly templates: TemplateCatalogue,
    private readonly owners: ResourceOwners,
  ) {}

  /** Errors: invalid `unknown_template`, `invalid_external_id`; unavailable `service_unavailable`. */
  async of(request: CreateAgent, agentId: string): Promise<Profile> {
    const template = this.templates.get(request.templateId);
    const { accountId, templateId, idleTtlSeconds } = request;
    const key = await this.owners.enlist(request);
    return {
      accountId,
      templateId,
      idleTtlSeconds: idleTtlSeconds ?? DEFAULT_IDLE_TTL_SECONDS,
      resources: { ...template.resources, ...request.resources },
      personal: toPersonalIdentity(key, agentId, identityIn(request)),
    };
  }

  /** Creates the owner of a new agent unless it exists; returns false if it was deleted, so that the agent must go, too. */
  createOwner(request: CreateAgent, { personal }: Profile): Promise<boolean> {
    return personal.endUserId === null
      ? Promise.resolve(true)
      : this.owners.create(request, personal.endUserId);
  }
}

export const identityIn = ({
  name,
  externalId,
  externalUserId,
  instructions,
  labels,
}: CreateAgent): AgentIdentity => ({ name, externalId, externalUserId, instructions, labels });
