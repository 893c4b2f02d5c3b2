import { Database, SecretBox, type SqlRunner } from '@berth/persistence';
import { Inject, Injectable } from '@nestjs/common';

/** The secret of a token, by its place in the agent's history of tokens. */
export interface TokenSecret {
  readonly agentId: string;
  readonly tokenId: string;
  readonly revision: bigint;
  readonly token: string;
  /** ISO 8601. */
  readonly createdAt: string;
}

interface Row {
  readonly agent_id: string;
  readonly token_id: string;
  readonly revision: string;
  readonly sealed: string;
  readonly created_at: Date;
}

/** The current invoke token of each agent, sealed. */
@Injectable()
export class WebhookTokenVault {
  constructor(
    @Inject(Database) private readonly database: SqlRunner,
    private readonly box: SecretBox,
  ) {}

  /** Stores the secret, unless the vault has one of the same token or of a later one; returns what it has then. */
  async store(secret: TokenSecret): Promise<TokenSecret> {
    const { agentId, tokenId, revision, token, createdAt } = secret;
    await this.database.query(
      `INSERT INTO delivery_vault.webhook_tokens AS known (agent_id, token_id, revision, sealed, created_at)
       VALUES ($1, $2, $3, $4, $5)
       ON CONFLICT (agent_id) DO UPDATE SET token_id = excluded.token_id, revision = excluded.revision,
         sealed = excluded.sealed, created_at = excluded.created_at
       WHERE known.revision < excluded.revision`,
      [agentId, tokenId, revision.toString(), this.box.seal(token, aadOf(agentId, tokenId)), createdAt],
    );
    const stored = await this.find(agentId);
    if (stored === null) throw new Error('The token of a webhook vanished while it was stored.');
    return stored;
  }

  /** null if the agent has none. */
  async find(agentId: string): Promise<TokenSecret | null> {
    const [row] = await this.database.query<Row>(
      'SELECT * FROM delivery_vault.webhook_tokens WHERE agent_id = $1',
      [agentId],
    );
    return row === undefined ? null : this.secretOf(row);
  }

  /** By agent, without tokens that the log says were replaced: a restored vault may be older than the log. */
  async findLiving(agentIds: readonly string[]): Promise<ReadonlyMap<string, TokenSecret>> {
    const rows = await this.database.query<Row>(
      `SELECT secret.* FROM delivery_vault.webhook_tokens secret
       LEFT JOIN webhook_token known ON known.agent_id = secret.agent_id
       WHERE secret.agent_id = ANY($1) AND (known.revision IS NULL OR known.revision <= secret.revision)`,
      [agentIds],
    );
    return new Map(rows.map((row) => [row.agent_id, this.secretOf(row)]));
  }

  async remove(agentId: string, tx: SqlRunner = this.database): Promise<void> {
    await tx.query('DELETE FROM delivery_vault.webhook_tokens WHERE agent_id = $1', [agentId]);
  }

  private secretOf(row: Row): TokenSecret {
    const { agent_id: agentId, token_id: tokenId } = row;
    return {
      agentId,
      tokenId,
      revision: BigInt(row.revision),
      token: this.box.open(row.sealed, aadOf(agentId, tokenId)),
      createdAt: row.created_at.toISOString(),
    };
  }
}

const aadOf = (agentId: string, tokenId: string): string => `webhook token ${agentId} ${tokenId}`;
