import type { EnvVarView } from '@berth/contracts-agents';
import type { SecretBox, SqlRunner } from '@berth/persistence';

/** What a secret's value is shown as. */
const MASK = '********';

interface VaultRow {
  readonly key: string;
  readonly sealed: string;
  readonly is_secret: boolean;
  readonly updated_at: Date;
}

export interface EnvVar {
  readonly key: string;
  readonly value: string;
  /** null keeps what it was: a secret is not laid open by renewing its value. */
  readonly isSecret: boolean | null;
}

/**
 * The vault of variables: values stand nowhere else, sealed under the operator's key and bound to their
 * agent and name. It is in the backup and never rebuilt.
 */
export class EnvVault {
  constructor(
    private readonly database: SqlRunner,
    private readonly box: SecretBox,
  ) {}

  async putAll(agentId: string, variables: readonly EnvVar[]): Promise<void> {
    for (const variable of variables) await this.put(agentId, variable);
  }

  async put(agentId: string, { key, value, isSecret }: EnvVar): Promise<EnvVarView> {
    const rows = await this.database.query<VaultRow>(
      `INSERT INTO env_vault (agent_id, key, sealed, is_secret, updated_at) VALUES ($1, $2, $3, coalesce($4, false), now())
       ON CONFLICT (agent_id, key) DO UPDATE
         SET sealed = excluded.sealed, is_secret = coalesce($4, env_vault.is_secret), updated_at = excluded.updated_at
       RETURNING key, sealed, is_secret, updated_at`,
      [agentId, key, this.box.seal(value, aad(agentId, key)), isSecret],
    );
    const row = rows[0];
    if (row === undefined) throw new Error('The vault answered no row for a variable it kept.');
    return this.view(agentId, row);
  }

  /** Whether there was one. */
  async remove(agentId: string, key: string): Promise<boolean> {
    const rows = await this.database.query<{ key: string }>(
      'DELETE FROM env_vault WHERE agent_id = $1 AND key = $2 RETURNING key',
      [agentId, key],
    );
    return rows.length > 0;
  }

  async list(agentId: string): Promise<readonly EnvVarView[]> {
    return (await this.rows(agentId)).map((row) => this.view(agentId, row));
  }

  /** The values in the clear, for the host that starts the agent and nobody else. */
  async open(agentId: string): Promise<{ values: Record<string, string>; secretKeys: string[] }> {
    const rows = await this.rows(agentId);
    return {
      values: Object.fromEntries(
        rows.map((row) => [row.key, this.box.open(row.sealed, aad(agentId, row.key))]),
      ),
      secretKeys: rows.filter((row) => row.is_secret).map((row) => row.key),
    };
  }

  async forget(agentId: string): Promise<void> {
    await this.database.query('DELETE FROM env_vault WHERE agent_id = $1', [agentId]);
  }

  private rows(agentId: string): Promise<VaultRow[]> {
    return this.database.query<VaultRow>(
      'SELECT key, sealed, is_secret, updated_at FROM env_vault WHERE agent_id = $1 ORDER BY key',
      [agentId],
    );
  }

  private view(agentId: string, row: VaultRow): EnvVarView {
    const value = row.is_secret ? MASK : this.box.open(row.sealed, aad(agentId, row.key));
    return { key: row.key, value, isSecret: row.is_secret, updatedAt: row.updated_at.toISOString() };
  }
}

const aad = (agentId: string, key: string): string => `${agentId}/${key}`;
