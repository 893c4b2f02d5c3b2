import type { ListLlmCalls, LlmCallStatus, LlmCallView, LlmDialect } from '@berth/contracts/llm';
import { isId, type Page } from '@berth/kernel';
import { Database, decodeCursor, encodeCursor, type SqlRunner } from '@berth/persistence';
import { Inject, Injectable } from '@nestjs/common';

interface CallRow {
  readonly id: string;
  readonly agent_id: string;
  readonly end_user_id: string | null;
  readonly model: string;
  readonly dialect: LlmDialect;
  readonly status: LlmCallStatus;
  readonly input_tokens: string | null;
  readonly cached_input_tokens: string | null;
  readonly output_tokens: string | null;
  readonly cost: string | null;
  readonly reserved: string | null;
  readonly started_at: Date;
  readonly ended_at: Date | null;
}

/** The last row of a page. */
type End = readonly [startedAt: string, id: string];

/** The calls of an account, newest first. */
@Injectable()
export class CallListQuery {
  constructor(@Inject(Database) private readonly database: SqlRunner) {}

  async run(request: ListLlmCalls): Promise<Page<LlmCallView>> {
    const { accountId, agentId, from, to, limit } = request;
    const end = request.cursor === null ? null : decodeCursor<End>(request.cursor, isEnd);
    const rows = await this.database.query<CallRow>(
      `SELECT id, agent_id, end_user_id, model, dialect, status, input_tokens, cached_input_tokens, output_tokens,
         cost::text, reserved::text, started_at, ended_at
       FROM llm_calls
       WHERE account_id = $1 AND status IS NOT NULL
         AND ($2::text IS NULL OR agent_id = $2)
         AND ($3::timestamptz IS NULL OR started_at >= $3) AND ($4::timestamptz IS NULL OR started_at <= $4)
         AND ($5::timestamptz IS NULL OR (started_at, id) < ($5, $6::text))
       ORDER BY started_at DESC, id DESC LIMIT $7`,
      [accountId, agentId, from, to, end?.[0] ?? null, end?.[1] ?? null, limit + 1],
    );
    const items = rows.slice(0, limit);
    const last = items.at(-1);
    const nextCursor =
      rows.length > limit && last !== undefined
        ? encodeCursor([last.started_at.toISOString(), last.id])
        : null;
    return { items: items.map(toView), nextCursor };
  }

  /** The code of the last refusal of an agent's call since a time (ISO 8601), by a cap or a suspension; null without one. */
  async refusalSince(agentId: string, since: string): Promise<string | null> {
    const [row] = await this.database.query<{ readonly code: string }>(
      `SELECT code FROM llm_calls
       WHERE agent_id = $1 AND started_at >= $2::timestamptz AND status = 'refused' AND code = ANY($3)
       ORDER BY started_at DESC LIMIT 1`,
      [agentId, since, CODES_OF_CAPS],
    );
    return row?.code ?? null;
  }
}

const CODES_OF_CAPS = ['spend_cap_reached', 'insufficient_credits', 'end_user_suspended'];

const isEnd = (value: unknown): boolean => {
  if (!Array.isArray(value) || value.length !== 2) return false;
  const [at, id]: readonly unknown[] = value;
  return typeof at === 'string' && !Number.isNaN(Date.parse(at)) && typeof id === 'string' && isId('llm', id);
};

const toView = (row: CallRow): LlmCallView => ({
  id: row.id,
  agentId: row.agent_id,
  endUserId: row.end_user_id,
  model: row.model,
  dialect: row.dialect,
  status: row.status,
  inputTokens: Number(row.input_tokens ?? 0),
  cachedInputTokens: Number(row.cached_input_tokens ?? 0),
  outputTokens: Number(row.output_tokens ?? 0),
  cost: row.cost ?? '0',
  reserved: row.reserved ?? '0',
  startedAt: row.started_at.toISOString(),
  endedAt: row.ended_at?.toISOString() ?? null,
});
