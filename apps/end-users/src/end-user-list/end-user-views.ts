import type { EndUserRecord, EndUserView } from '@berth/contracts/end-users';
import { Database, type SqlRunner } from '@berth/persistence';
import { Inject, Injectable } from '@nestjs/common';
import { AgentsOfEndUser } from '../agents-of-end-user.js';
import { endUserNotFound } from '../end-user/end-user.decider.js';
import type { LiveEndUser } from '../end-user/end-user.js';
import { PersonalKeys } from '../personal-data/personal-keys.js';

/** Completes end users with what the log does not hold: their number of agents, and when they were last active. */
@Injectable()
export class EndUserViews {
  constructor(
    @Inject(Database) private readonly database: SqlRunner,
    private readonly keys: PersonalKeys,
    private readonly agents: AgentsOfEndUser,
  ) {}

  /** Errors: not_found `end_user_not_found` when the key of the end user is destroyed. */
  async ofState(
    { endUserId, sealed, suspendedAt, policy, createdAt, updatedAt }: LiveEndUser,
    agentCount: number,
  ): Promise<EndUserView> {
    const personal = await this.keys.find(endUserId);
    if (personal === null) throw endUserNotFound();
    const [active] = await this.database.query<{ at: Date }>(
      'SELECT last_active_at AS at FROM end_users_vault.activity WHERE end_user_id = $1',
      [endUserId],
    );
    const status = suspendedAt === null ? 'active' : 'suspended';
    const lastActiveAt = active?.at.toISOString() ?? null;
    const record = { endUserId, status, suspendedAt, policy, createdAt, updatedAt, lastActiveAt } as const;
    return viewOf({ ...record, ...personal.open(sealed) }, agentCount);
  }

  async complete(accountId: string, records: readonly EndUserRecord[]): Promise<readonly EndUserView[]> {
    const counts = await this.agents.count(
      accountId,
      records.map(({ externalId }) => externalId),
    );
    return records.map((record) => viewOf(record, counts.get(record.externalId) ?? 0));
  }
}

const viewOf = (record: EndUserRecord, agentCount: number): EndUserView => {
  const { endUserId: _opaque, policy, ...shown } = record;
  return { ...shown, agentCount, policy };
};
