import { variableBytes, type EnvPage, type EnvVarView } from '@berth/contracts/agents';
import { KeyedQueue } from '@berth/event-store';
import { Database, lockKey, SecretBox, type SqlRunner } from '@berth/persistence';
import { Injectable } from '@nestjs/common';
import { CreationOvertaken } from '../agent/creation-overtaken.js';
import { checkEnvGrowth, type EnvTotals } from './env-limits.js';
import { findWrite, rememberWrite, type EnvWrite } from './env-writes.js';

/** Replaces the value of a secret in responses. */
const MASK = '********';

/** A page ends with the variable that exceeds this many bytes of names and values; its JSON is at most six times as large. */
const PAGE_BYTES = 1_048_576;
const PAGE_ITEMS = 1_000;

interface VaultRow {
  readonly key: string;
  readonly sealed: string;
  readonly is_secret: boolean;
  readonly updated_at: Date;
}

export interface EnvVar {
  readonly key: string;
  readonly value: string;
  /** null keeps the current setting, so that a new value of a secret stays secret. */
  readonly isSecret: boolean | null;
}

/**
 * The vault of variables, the only place of their values: sealed with the operator's key and bound to their agent and
 * name. It belongs in the backup and is never rebuilt.
 */
@Injectable()
export class EnvVault {
  // A writer that waits for an agent's lock holds a connection: at most one for each agent in this process.
  readonly #writers = new KeyedQueue();

  constructor(
    private readonly database: Database,
    private readonly box: SecretBox,
  ) {}

  /**
   * Stores the variables of an attempt to create the agent, all or none; keeps those that were changed since. Throws
   * `CreationOvertaken` when the attempt has ended, so that an attempt that was undone leaves no variables. Errors: invalid
   * `invalid_request` when the agent would exceed its limits.
   */
  async putCreated(agentId: string, attempt: number, variables: readonly EnvVar[]): Promise<void> {
    if (variables.length === 0) return;
    await this.exclusively(agentId, async (tx) => {
      await requireUnderWay(tx, agentId, attempt);
      await this.write(tx, agentId, variables, attempt);
    });
  }

  /** Removes the attempts up to this one, and their variables, from the tables; `putCreated` then rejects these attempts. */
  async forgetCreated(agentId: string, attempt: number): Promise<void> {
    await this.database.transaction(async (tx) => {
      const which = 'WHERE agent_id = $1 AND attempt <= $2';
      await tx.query(`DELETE FROM agent_creations ${which}`, [agentId, attempt]);
      await tx.query(`DELETE FROM env_vault ${which}`, [agentId, attempt]);
    });
  }

  /** Stores it once for each command, and returns it as that command stored it. Errors: as `putCreated`. */
  put(agentId: string, commandId: string, variable: EnvVar): Promise<EnvVarView> {
    return this.exclusively(agentId, async (tx) => {
      const earlier = await findWrite(tx, agentId, commandId);
      if (earlier !== undefined) return viewOf(variable, earlier);
      const [row] = await this.write(tx, agentId, [variable], null);
      if (row === undefined) throw new Error('The vault returned no row for a variable that it stored.');
      const write = { key: row.key, is_secret: row.is_secret, written_at: row.updated_at };
      await rememberWrite(tx, agentId, commandId, write);
      return viewOf(variable, write);
    });
  }

  /** Removes it once for each command; returns whether the variable existed then. */
  remove(agentId: string, commandId: string, key: string): Promise<boolean> {
    return this.exclusively(agentId, async (tx) => {
      if ((await findWrite(tx, agentId, commandId)) !== undefined) return true;
      const rows = await tx.query<{ key: string }>(
        'DELETE FROM env_vault WHERE agent_id = $1 AND key = $2 RETURNING key',
        [agentId, key],
      );
      if (rows.length === 0) return false;
      await rememberWrite(tx, agentId, commandId, { key, is_secret: null, written_at: new Date() });
      return true;
    });
  }

  async list(agentId: string, after: string | null): Promise<EnvPage> {
    // The extra row shows whether there is a next page.
    const rows = await this.database.query<VaultRow & { before: string }>(
      `SELECT key, sealed, is_secret, updated_at, sum(bytes) OVER (ORDER BY key) - bytes AS before
       FROM env_vault WHERE agent_id = $1 AND ($2::text IS NULL OR key > $2) ORDER BY key LIMIT $3`,
      [agentId, after, PAGE_ITEMS + 1],
    );
    const page = rows.slice(0, PAGE_ITEMS).filter((row) => Number(row.before) < PAGE_BYTES);
    return {
      items: page.map((row) => this.view(agentId, row)),
      next: page.length < rows.length ? (page.at(-1)?.key ?? null) : null,
    };
  }

  /** Returns the values in plain text, only for the host that starts the agent. */
  async open(agentId: string): Promise<{ values: Record<string, string>; secretKeys: string[] }> {
    const rows = await this.database.query<VaultRow>(
      'SELECT key, sealed, is_secret, updated_at FROM env_vault WHERE agent_id = $1 ORDER BY key',
      [agentId],
    );
    return {
      values: Object.fromEntries(
        rows.map((row) => [row.key, this.box.open(row.sealed, aad(agentId, row.key))]),
      ),
      secretKeys: rows.filter((row) => row.is_secret).map((row) => row.key),
    };
  }

  /** Returns the value of a secret variable, only for the host that uses it; null if there is no such secret. */
  async openSecret(agentId: string, key: string): Promise<string | null> {
    const [row] = await this.database.query<{ sealed: string }>(
      'SELECT sealed FROM env_vault WHERE agent_id = $1 AND key = $2 AND is_secret',
      [agentId, key],
    );
    return row === undefined ? null : this.box.open(row.sealed, aad(agentId, key));
  }

  async forget(agentId: string): Promise<void> {
    await this.database.transaction(async (tx) => {
      for (const table of ['env_vault', 'env_writes'])
        await tx.query(`DELETE FROM ${table} WHERE agent_id = $1`, [agentId]);
    });
  }

  /** One writer per agent at a time in all processes, so that concurrent writers cannot exceed the limits together. */
  private exclusively<T>(agentId: string, work: (tx: SqlRunner) => Promise<T>): Promise<T> {
    return this.#writers.run(agentId, () =>
      this.database.transaction(async (tx) => {
        await tx.query('SELECT pg_advisory_xact_lock($1)', [lockKey(`env_vault/${agentId}`)]);
        return work(tx);
      }),
    );
  }

  private async write(
    tx: SqlRunner,
    agentId: string,
    variables: readonly EnvVar[],
    attempt: number | null,
  ): Promise<VaultRow[]> {
    const before = await totalsOf(tx, agentId);
    const rows = await this.upsert(tx, agentId, variables, attempt);
    checkEnvGrowth(before, await totalsOf(tx, agentId));
    return rows;
  }

  private upsert(
    tx: SqlRunner,
    agentId: string,
    variables: readonly EnvVar[],
    attempt: number | null,
  ): Promise<VaultRow[]> {
    return tx.query<VaultRow>(
      `INSERT INTO env_vault (agent_id, key, sealed, bytes, is_secret, updated_at, attempt)
       SELECT $1, given.key, given.sealed, given.bytes, coalesce(given.is_secret, earlier.is_secret, false), now(), $6
       FROM unnest($2::text[], $3::text[], $4::integer[], $5::boolean[]) AS given (key, sealed, bytes, is_secret)
         LEFT JOIN env_vault AS earlier ON earlier.agent_id = $1 AND earlier.key = given.key
       ON CONFLICT (agent_id, key) DO UPDATE
         SET sealed = excluded.sealed, bytes = excluded.bytes, is_secret = excluded.is_secret,
           updated_at = excluded.updated_at, attempt = excluded.attempt
         WHERE excluded.attempt IS NULL OR env_vault.attempt < excluded.attempt
       RETURNING key, sealed, is_secret, updated_at`,
      [
        agentId,
        variables.map(({ key }) => key),
        variables.map(({ key, value }) => this.box.seal(value, aad(agentId, key))),
        variables.map(({ key, value }) => variableBytes(key, value)),
        variables.map(({ isSecret }) => isSecret),
        attempt,
      ],
    );
  }

  private view(agentId: string, row: VaultRow): EnvVarView {
    const value = row.is_secret ? MASK : this.box.open(row.sealed, aad(agentId, row.key));
    return { key: row.key, value, isSecret: row.is_secret, updatedAt: row.updated_at.toISOString() };
  }
}

/** Locks the row until the transaction ends, so that undoing the attempt waits and then removes these variables too. */
const requireUnderWay = async (tx: SqlRunner, agentId: string, attempt: number): Promise<void> => {
  const rows = await tx.query(
    'SELECT 1 FROM agent_creations WHERE agent_id = $1 AND attempt = $2 FOR SHARE',
    [agentId, attempt],
  );
  if (rows.length === 0) throw new CreationOvertaken();
};

const totalsOf = async (tx: SqlRunner, agentId: string): Promise<EnvTotals> => {
  const [row] = await tx.query<{ variables: string; bytes: string }>(
    'SELECT count(*) AS variables, coalesce(sum(bytes), 0) AS bytes FROM env_vault WHERE agent_id = $1',
    [agentId],
  );
  return { variables: Number(row?.variables), bytes: Number(row?.bytes) };
};

/** A variable as a command stored it. */
const viewOf = ({ key, value }: EnvVar, { is_secret: isSecret, written_at }: EnvWrite): EnvVarView => ({
  key,
  value: isSecret === true ? MASK : value,
  isSecret: isSecret === true,
  updatedAt: written_at.toISOString(),
});

const aad = (agentId: string, key: string): string => `${agentId}/${key}`;
