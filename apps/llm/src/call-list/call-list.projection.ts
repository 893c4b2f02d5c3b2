import type { Projection, RecordedEvent } from '@berth/event-store';
import { publishAnalystView } from '@berth/persistence';
import { accountLedgerCodec } from '../account-ledger/account-ledger.events.js';
import { endUserLedgerCodec } from '../end-user-ledger/end-user-ledger.events.js';
import { LLM_CALLS_VIEW } from './call-analytics.js';
import { rowChangesOf } from './call-row.js';

const tableOf = (suffix: string): string => `llm_calls_${suffix}`;

/** Columns that later events set again. */
const COLUMNS = [
  'account_id',
  'agent_id',
  'end_user_id',
  'spender_id',
  'model',
  'dialect',
  'status',
  'code',
  'instance',
  'input_tokens',
  'cached_input_tokens',
  'output_tokens',
  'cost',
  'reserved',
  'started_at',
  'ended_at',
  'spend_open',
] as const;

/** Every call; queries read the view `llm_calls`. */
export const callListProjection: Projection = {
  name: 'llm-calls',
  version: 1,
  categories: [accountLedgerCodec.category, endUserLedgerCodec.category],

  async createTables(tx, suffix) {
    const table = tableOf(suffix);
    // The ledger of the end user tells of a call before that of the account: until then its columns are null.
    await tx.query(`
      CREATE TABLE ${table} (
        id text COLLATE "C" PRIMARY KEY,
        account_id text COLLATE "C",
        agent_id text COLLATE "C",
        end_user_id text COLLATE "C",
        spender_id text COLLATE "C",
        model text,
        dialect text,
        status text,
        code text,
        instance text,
        input_tokens bigint,
        cached_input_tokens bigint,
        output_tokens bigint,
        cost numeric,
        reserved numeric,
        started_at timestamptz(3),
        ended_at timestamptz(3),
        spend_open boolean
      ) WITH (fillfactor = 80)`);
    await tx.query(`CREATE INDEX ON ${table} (account_id, started_at DESC, id DESC)`);
    await tx.query(`CREATE INDEX ON ${table} (agent_id, started_at DESC, id DESC)`);
    await tx.query(`CREATE INDEX ON ${table} (instance) WHERE status = 'open' OR spend_open`);
  },

  async dropTables(tx, suffix) {
    await tx.query(`DROP TABLE IF EXISTS ${tableOf(suffix)} CASCADE`);
  },

  async publish(tx, suffix) {
    await tx.query(
      `CREATE OR REPLACE VIEW llm_calls AS SELECT id, ${COLUMNS.join(', ')} FROM ${tableOf(suffix)}`,
    );
    await publishAnalystView(tx, LLM_CALLS_VIEW);
  },

  async apply(tx, suffix, events: readonly RecordedEvent[]) {
    const rows = rowChangesOf(events);
    if (rows.length === 0) return;
    const table = tableOf(suffix);
    const sets = COLUMNS.map((column) => `${column} = coalesce(EXCLUDED.${column}, listed.${column})`);
    await tx.query(
      `INSERT INTO ${table} AS listed SELECT * FROM jsonb_populate_recordset(NULL::${table}, $1::jsonb)
       ON CONFLICT (id) DO UPDATE SET ${sets.join(', ')}`,
      [JSON.stringify(rows)],
    );
  },
};
