import type { Effort } from '../context.js';
import { compare, type ComparisonPlan } from '../measure/compare.js';
import { FilledTables } from '../measure/filled-tables.js';
import { repeatTimes } from '../measure/loops.js';
import { repeatedSide } from '../measure/repeated-side.js';
import type { ApiClient } from '../programs/api-client.js';
import type { BerthProgram } from '../programs/berth-program.js';
import type { Part, Section } from './part.js';

const PEOPLE = '/api/v1/end-users';
const CALLERS = 4;
const FILTERS = [
  '',
  'status=suspended',
  'status=active',
  'tag=t7',
  'externalIdPrefix=bench.99',
  'lastActiveAfter=2026-11-20',
  'lastActiveBefore=2026-11-02',
];

/** End users of the account, of whom one in a hundred is suspended. */
const insertInto = (table: string): string => `
  INSERT INTO ${table} (id, account_id, external_id, metadata, tags, status, created_at, updated_at, revision)
  SELECT 'eus_' || lpad(n::text, 26, '0'), $1, 'bench.' || n, '{}', ARRAY['t' || n % 100],
    CASE WHEN n % 100 = 0 THEN 'suspended' ELSE 'active' END, now(), now(), 0
  FROM generate_series($2::integer, $3::integer) AS n`;

/** Calls with a token, the suspension of its end user, and the list of many. */
export const endUsersPart: Part = {
  name: 'end-users',
  async run(context) {
    const { effort, log } = context;
    const { berth, parts } = await context.berthOnParts();
    const tables = await FilledTables.open(parts.databaseUrl, log);
    try {
      const owner = await anOwner(berth);
      const sections: Section[] = [
        await compare(tokenPlan(effort, berth, owner), effort.rounds),
        await compare(suspensionPlan(effort, berth, owner), effort.longRounds),
      ];
      const { id } = await berth.api.json<{ id: string }>('GET', '/api/v1/account');
      await tables.fill('end_user_list', insertInto, [id], effort.rebuildEvents);
      const opened = await berth.api.json<{ key: string }>('POST', '/api/v1/operations/accounts', {
        name: 'few',
      });
      const few = berth.as(opened.key);
      for (const filter of FILTERS)
        sections.push(await compare(listPlan(effort, berth.api, few, filter), effort.rounds));
      return sections;
    } finally {
      await tables.close();
    }
  },
};

interface Owner {
  readonly path: string;
  readonly agentPath: string;
  readonly withToken: ApiClient;
}

const anOwner = async (berth: BerthProgram): Promise<Owner> => {
  const agent = await berth.createAgent('end user bench', 'blank', { externalUserId: 'bench' });
  const { token } = await berth.api.json<{ token: string }>('POST', `${PEOPLE}/bench/tokens`, {
    scopes: ['logs'],
    ttlSeconds: 3_600,
  });
  return { path: `${PEOPLE}/bench`, agentPath: `/api/agents/${agent}`, withToken: berth.as(token) };
};

const tokenPlan = (
  effort: Effort,
  { api }: BerthProgram,
  { agentPath, withToken }: Owner,
): ComparisonPlan => {
  const get = (name: string, client: ApiClient) =>
    repeatedSide(name, { ...effort, concurrency: 1 }, () => client.call('GET', agentPath));
  return {
    title: 'GET /api/agents/{id} with a token of an end user',
    measure: 'time',
    ours: get('with the token (counts the request)', withToken),
    limits: [get('with the key of the owner', api)],
  };
};

/** How long after the beginning of a suspension the last call with a token is accepted. */
const suspensionPlan = (effort: Effort, berth: BerthProgram, owner: Owner): ComparisonPlan => {
  const side = (
    name: string,
    pick: (times: { readonly returned: number; readonly last: number }) => number,
  ) => ({
    name,
    warmUp: () => suspension(berth, owner),
    round: () => repeatTimes(effort.warmWakes, async () => pick(await suspension(berth, owner))),
  });
  return {
    title: `Suspension of an end user whose token is in use by ${String(CALLERS)} callers`,
    measure: 'time',
    ours: side('until the last call with it is accepted', ({ last }) => last),
    limits: [side('until the suspension returns', ({ returned }) => returned)],
  };
};

const suspension = async (
  { api }: BerthProgram,
  { path, agentPath, withToken }: Owner,
): Promise<{ readonly returned: number; readonly last: number }> => {
  let last = performance.now();
  const caller = async (): Promise<void> => {
    for (;;) {
      const isAccepted = await withToken.call('GET', agentPath).then(
        () => true,
        () => false,
      );
      if (!isAccepted) return;
      last = performance.now();
    }
  };
  const callers = Array.from({ length: CALLERS }, caller);
  const begun = performance.now();
  await api.call('POST', `${path}/suspend`);
  const returned = performance.now();
  await Promise.all(callers);
  await api.call('POST', `${path}/resume`);
  return { returned: returned - begun, last: Math.max(0, last - begun) };
};

const listPlan = (effort: Effort, many: ApiClient, few: ApiClient, filter: string): ComparisonPlan => {
  const list = (name: string, client: ApiClient) =>
    repeatedSide(name, { ...effort, concurrency: 1 }, () => client.call('GET', `${PEOPLE}?${filter}`));
  return {
    title: `GET ${PEOPLE}?${filter} of ${effort.rebuildEvents.toLocaleString('en')} end users`,
    measure: 'time',
    ours: list('all of them', many),
    limits: [list('another account without any', few)],
  };
};
