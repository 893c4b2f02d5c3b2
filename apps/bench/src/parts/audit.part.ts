import type { Effort } from '../context.js';
import { compare } from '../measure/compare.js';
import { FilledTables } from '../measure/filled-tables.js';
import { repeatedSide } from '../measure/repeated-side.js';
import type { ApiClient } from '../programs/api-client.js';
import type { Part, Section } from './part.js';

/** Rows per event of the rebuild: a million with full effort. */
const ROWS_PER_EVENT = 10;
const ACTORS = 1_000;
const DAYS = 30;
const QUERIES = ['', 'actor=key_7', 'resource=agt_7', 'action=env.set', 'from=2026-11-01&to=2026-11-02'];

/** Acts of the account, spread over a month, by a thousand actors on as many agents. */
const insertInto = (table: string): string => `
  INSERT INTO ${table} (position, id, account_id, at, actor_kind, actor_id, action, resource_type, resource_id,
    request_id, outcome, details, stream)
  SELECT 1000000000000 + n, 'aud_' || lpad(n::text, 26, '0'), $1,
    timestamptz '2026-11-30' - n * (interval '${String(DAYS)} days' / $2), 'key', 'key_' || n % ${String(ACTORS)},
    (ARRAY['agent.start', 'agent.sleep', 'env.set', 'execution.submit'])[1 + n % 4], 'agent',
    'agt_' || (n / 7) % ${String(ACTORS)}, NULL, 'ok', '{}', NULL
  FROM generate_series($3::integer, $4::integer) AS n`;

/** A page of the audit of an account with a million acts, compared with that of an account with one. */
export const auditPart: Part = {
  name: 'audit',
  async run(context) {
    const { effort, log } = context;
    const { berth, parts } = await context.berthOnParts();
    const tables = await FilledTables.open(parts.databaseUrl, log);
    try {
      const rows = effort.rebuildEvents * ROWS_PER_EVENT;
      const { id } = await berth.api.json<{ id: string }>('GET', '/api/v1/account');
      const opened = await berth.api.json<{ key: string }>('POST', '/api/v1/operations/accounts', {
        name: 'small',
      });
      await tables.fill('audit_list', insertInto, [id, rows], rows);
      const small = berth.as(opened.key);
      const sections: Section[] = [];
      for (const query of QUERIES) {
        const plan = {
          title: `GET /api/v1/audit?${query} of ${rows.toLocaleString('en')} acts`,
          measure: 'time',
          ours: page('all these acts', effort, berth.api, query),
          limits: [page('another account with one act', effort, small, query)],
        } as const;
        sections.push(await compare(plan, effort.rounds));
      }
      return sections;
    } finally {
      await tables.close();
    }
  },
};

const page = (name: string, effort: Effort, api: ApiClient, query: string) =>
  repeatedSide(name, { ...effort, concurrency: 1 }, () => api.call('GET', `/api/v1/audit?${query}`));
