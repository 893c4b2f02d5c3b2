import type { AuthenticateAgent, AuthenticatedAgent, LlmCaller } from '@berth/contracts/agents';
import { DomainError, isDomainError, isId } from '@berth/kernel';
import { Inject, Injectable } from '@nestjs/common';
import { Admission, ownerOf, type Owner } from '../agent/admission.js';
import { AgentCommandHandler } from '../agent/agent.command-handler.js';
import { isAgentToken, tokenEpochsOf, tokenSecretOf } from '../agent/agent-token.js';
import { EndUserUses } from '../agent-list/end-user-uses.js';
import { AgentsConfig } from '../config.js';
import { Policies } from '../policy/policies.js';

/** Authenticates an agent's token against the log: a token ends with the start for which it was made. */
@Injectable()
export class AuthenticateAgentQuery {
  private readonly tokenSecret: Buffer;

  constructor(
    private readonly agents: AgentCommandHandler,
    private readonly admission: Admission,
    @Inject(Policies) private readonly policies: Pick<Policies, 'inForce'>,
    @Inject(EndUserUses) private readonly endUsers: Pick<EndUserUses, 'note'>,
    @Inject(AgentsConfig) { keyring }: Pick<AgentsConfig, 'keyring'>,
  ) {
    this.tokenSecret = tokenSecretOf(keyring);
  }

  /** Errors: unauthenticated `unauthenticated`. */
  async run(request: AuthenticateAgent): Promise<AuthenticatedAgent> {
    return this.authenticate(request.agentId, await this.ownerOf(request));
  }

  /** Counts as activity of the end user. Errors: unauthenticated `unauthenticated`. */
  async llmCaller(request: AuthenticateAgent): Promise<LlmCaller> {
    const owner = await this.ownerOf(request);
    const [agent, policy] = await Promise.all([
      this.authenticate(request.agentId, owner),
      this.policies.inForce(owner),
    ]);
    const { endUserId } = owner;
    if (endUserId !== null && agent.suspended === null) this.endUsers.note(endUserId);
    return { ...agent, endUserId, capCents: policy?.llm_spend_cap_cents_per_month ?? null };
  }

  private async authenticate(agentId: string, owner: Owner): Promise<AuthenticatedAgent> {
    return { agentId, accountId: owner.accountId, suspended: await this.suspensionOf(owner) };
  }

  private async ownerOf({ agentId, epoch, tokenHash }: AuthenticateAgent): Promise<Owner> {
    if (!isId('agt', agentId) || !isAgentToken(tokenHash, this.tokenSecret, { agentId, epoch }))
      throw unauthenticated();
    const agent = await this.agents.load(agentId);
    if (agent.status !== 'live' || !tokenEpochsOf(agent).includes(epoch)) throw unauthenticated();
    return ownerOf(agent.profile);
  }

  private async suspensionOf(owner: Owner): Promise<AuthenticatedAgent['suspended']> {
    try {
      await this.admission.admit('use', owner);
      return null;
    } catch (error) {
      if (!isDomainError(error, 'forbidden')) throw error;
      const { code } = error;
      if (code === 'account_suspended' || code === 'end_user_suspended') return code;
      throw error;
    }
  }
}

const unauthenticated = (): DomainError =>
  new DomainError('unauthenticated', 'unauthenticated', 'The token is not that of a running agent.');
