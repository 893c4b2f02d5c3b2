import { accountsRequests } from '@berth/contracts/accounts';
import { agentsRequests, type Addressee } from '@berth/contracts/agents';
import { DomainError } from '@berth/kernel';
import { asLookUpFailure, Requester } from '@berth/messaging';
import { Inject, Injectable } from '@nestjs/common';
import { GatheredCalls } from '../webhook/gathered-calls.js';
import { WebhookTokenVault, type TokenSecret } from './webhook-token-vault.js';

/** Both requests together fail while the caller still waits for its 503. */
const LOOK_UP_WITHIN_MS = 4_000;
const MOST_AT_ONCE = 256;

export interface InvokedAgent {
  readonly agentId: string;
  /** The account, if the caller knows it: it never changes. */
  readonly accountId: string | null;
}

/** The facts that decide about an invoke. */
export interface InvokedAgentFacts extends Addressee {
  /** The current token; null if the agent has none. */
  readonly secret: TokenSecret | null;
}

/**
 * Reads what decides about an invoke: the agent, its suspensions and its token, without a cache. Invokes that arrive
 * together share the reads.
 */
@Injectable()
export class InvokedAgents {
  readonly #calls: GatheredCalls<InvokedAgent, InvokedAgentFacts | null>;

  constructor(
    private readonly vault: WebhookTokenVault,
    @Inject(Requester) private readonly requester: Pick<Requester, 'request'>,
  ) {
    this.#calls = new GatheredCalls((agents) => this.findAll(agents), MOST_AT_ONCE);
  }

  /** Errors: not_found `agent_not_found`; unavailable `service_unavailable`. */
  async find(agent: InvokedAgent): Promise<InvokedAgentFacts> {
    const facts = await this.#calls.call(agent);
    if (facts !== null) return facts;
    throw new DomainError('not_found', 'agent_not_found', 'There is no such agent.');
  }

  private async findAll(agents: readonly InvokedAgent[]): Promise<readonly (InvokedAgentFacts | null)[]> {
    const until = performance.now() + LOOK_UP_WITHIN_MS;
    const agentIds = distinct(agents.map(({ agentId }) => agentId));
    const known = distinct(agents.flatMap(({ accountId }) => accountId ?? []));
    try {
      const [{ found }, secrets, suspended] = await Promise.all([
        this.requester.request(agentsRequests.addressees, { agentIds }, leftOf(until)),
        this.vault.findLiving(agentIds),
        this.suspendedAmong(known, until),
      ]);
      const others = distinct(found.map(({ accountId }) => accountId)).filter((id) => !known.includes(id));
      const suspendedToo = await this.suspendedAmong(others, until);
      // What `agents` knows of a suspended account is a moment old.
      const barred = new Set([...suspended, ...suspendedToo]);
      const facts = found.map(({ agentId, accountId, suspended: by }): [string, InvokedAgentFacts] => [
        agentId,
        {
          accountId,
          suspended: barred.has(accountId) ? 'account_suspended' : by === 'account_suspended' ? null : by,
          secret: secrets.get(agentId) ?? null,
        },
      ]);
      const byAgent = new Map(facts);
      return agents.map(({ agentId }) => byAgent.get(agentId) ?? null);
    } catch (error) {
      throw asLookUpFailure(error);
    }
  }

  private async suspendedAmong(accountIds: readonly string[], until: number): Promise<readonly string[]> {
    if (accountIds.length === 0) return [];
    const wanted = { accountIds };
    return (await this.requester.request(accountsRequests.suspended, wanted, leftOf(until))).accountIds;
  }
}

const distinct = (ids: readonly string[]): readonly string[] => [...new Set(ids)];

const leftOf = (until: number): { readonly deadlineMs: number } => ({
  deadlineMs: Math.max(1, until - performance.now()),
});
