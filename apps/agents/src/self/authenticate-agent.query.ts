import type { AuthenticateAgent, AuthenticatedAgent } from '@berth/contracts/agents';
import { DomainError, isDomainError, isId } from '@berth/kernel';
import { Inject, Injectable } from '@nestjs/common';
import { Admission, ownerOf, type Owner } from '../agent/admission.js';
import { AgentCommandHandler } from '../agent/agent.command-handler.js';
import { isAgentToken, tokenEpochsOf, tokenSecretOf } from '../agent/agent-token.js';
import { AgentsConfig } from '../config.js';

/** Whose token it is, according to the log: a token ends with the start that it was made for. */
@Injectable()
export class AuthenticateAgentQuery {
  private readonly tokenSecret: Buffer;

  constructor(
    private readonly agents: AgentCommandHandler,
    private readonly admission: Admission,
    @Inject(AgentsConfig) { keyring }: Pick<AgentsConfig, 'keyring'>,
  ) {
    this.tokenSecret = tokenSecretOf(keyring);
  }

  /** Errors: unauthenticated `unauthenticated`. */
  async run({ agentId, epoch, tokenHash }: AuthenticateAgent): Promise<AuthenticatedAgent> {
    if (!isId('agt', agentId) || !isAgentToken(tokenHash, this.tokenSecret, { agentId, epoch }))
      throw unauthenticated();
    const agent = await this.agents.load(agentId);
    if (agent.status !== 'live' || !tokenEpochsOf(agent).includes(epoch)) throw unauthenticated();
    const owner = ownerOf(agent.profile);
    return { agentId, accountId: owner.accountId, suspended: await this.suspensionOf(owner) };
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
