import type { Addressee, FoundAddressee } from '@berth/contracts/agents';
import { DomainError, isDomainError } from '@berth/kernel';
import { Database, type SqlRunner } from '@berth/persistence';
import { Inject, Injectable } from '@nestjs/common';
import { Admission, ownerOf } from './admission.js';
import { AgentCommandHandler } from './agent.command-handler.js';

interface Row {
  readonly id: string;
  readonly account_id: string;
  readonly deleting: boolean;
  readonly account_suspended: boolean;
  readonly end_user_suspended: boolean;
}

/** Looks up the account of an agent, and whether a suspension forbids its use. */
@Injectable()
export class AddresseeQuery {
  constructor(
    private readonly agents: AgentCommandHandler,
    private readonly admission: Admission,
    @Inject(Database) private readonly database: SqlRunner,
  ) {}

  /** Read from the log, so that no call lags behind. Errors: not_found `agent_not_found`. */
  async find(agentId: string): Promise<Addressee> {
    const agent = await this.agents.load(agentId);
    if (agent.status !== 'live')
      throw new DomainError('not_found', 'agent_not_found', 'There is no such agent.');
    const owner = ownerOf(agent.profile);
    const suspended = await this.admission.admit('use', owner).then(
      () => null,
      (error: unknown) => suspensionIn(error),
    );
    return { accountId: owner.accountId, suspended };
  }

  /** Those that exist, from the list, which contains every deletion that has returned; from the log what the list lacks. */
  async findAll(agentIds: readonly string[]): Promise<readonly FoundAddressee[]> {
    const rows = await this.database.query<Row>(FIND, [agentIds]);
    const listed = new Set(rows.map(({ id }) => id));
    const others = await Promise.all(
      agentIds.filter((id) => !listed.has(id)).map((agentId) => this.findUnlisted(agentId)),
    );
    const found = rows.filter(({ deleting }) => !deleting).map(addresseeOf);
    return [...found, ...others.filter((other) => other !== null)];
  }

  private async findUnlisted(agentId: string): Promise<FoundAddressee | null> {
    try {
      return { agentId, ...(await this.find(agentId)) };
    } catch (error) {
      if (isDomainError(error, 'not_found')) return null;
      throw error;
    }
  }
}

/** The rules of `Admission` for the use of an agent, for many agents in one statement. */
const FIND = `
  SELECT agent.id, agent.account_id, agent.state = 'deleting' AS deleting,
    account.suspended IS TRUE AS account_suspended, end_user.suspended IS TRUE AS end_user_suspended
  FROM agent_list agent LEFT JOIN account_suspensions account ON account.account_id = agent.account_id
  LEFT JOIN end_user_suspensions end_user ON end_user.end_user_id = agent.end_user_id
  WHERE agent.id = ANY($1)`;

const addresseeOf = (row: Row): FoundAddressee => ({
  agentId: row.id,
  accountId: row.account_id,
  suspended: suspensionOf(row),
});

const suspensionOf = (row: Row): Addressee['suspended'] => {
  if (row.account_suspended) return 'account_suspended';
  return row.end_user_suspended ? 'end_user_suspended' : null;
};

const suspensionIn = (error: unknown): Addressee['suspended'] => {
  if (isDomainError(error, 'forbidden')) {
    const { code } = error;
    if (code === 'account_suspended' || code === 'end_user_suspended') return code;
  }
  throw error;
};
