import type { SqlRunner } from '@berth/persistence';

/** A change of a variable that a command has made. */
export interface EnvWrite {
  readonly key: string;
  /** null: the variable was removed. */
  readonly is_secret: boolean | null;
  readonly written_at: Date;
}

/** Much longer than a requester keeps repeating a command. */
const KEPT_FOR = "interval '1 hour'";

/** Returns the change that the command has already made. The caller holds the agent's lock. */
export const findWrite = async (
  tx: SqlRunner,
  agentId: string,
  commandId: string,
): Promise<EnvWrite | undefined> => {
  const [write] = await tx.query<EnvWrite>(
    'SELECT key, is_secret, written_at FROM env_writes WHERE agent_id = $1 AND command_id = $2',
    [agentId, commandId],
  );
  return write;
};

/** Records the change in its transaction, and deletes the agent's old records. */
export const rememberWrite = async (
  tx: SqlRunner,
  agentId: string,
  commandId: string,
  { key, is_secret, written_at }: EnvWrite,
): Promise<void> => {
  await tx.query(
    'INSERT INTO env_writes (agent_id, command_id, key, is_secret, written_at) VALUES ($1, $2, $3, $4, $5)',
    [agentId, commandId, key, is_secret, written_at],
  );
  await tx.query(`DELETE FROM env_writes WHERE agent_id = $1 AND written_at < now() - ${KEPT_FOR}`, [
    agentId,
  ]);
};
