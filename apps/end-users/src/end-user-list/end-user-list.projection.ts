import type { Projection, RecordedEvent } from '@berth/event-store';
import type { SecretBox, SqlRunner } from '@berth/persistence';
import type { EndUserCreated, EndUserEvent } from '../end-user/end-user.js';
import { endUserCodec } from '../end-user/end-user.events.js';
import type { PersonalData, PersonalFields, SealedFields } from '../personal-data/personal-data.js';
import { openKeys } from '../personal-data/personal-keys.js';

/** Names the projection, for waiting on it. */
export const END_USER_LIST = { name: 'end-user-list' } as const;

const tableOf = (suffix: string): string => `end_user_list_${suffix}`;
const COLUMNS = `id, account_id, external_id, display_name, metadata, tags, status, suspended_at, created_at, updated_at,
  erased, revision, policy`;

/**
 * Every end user, its personal data in plaintext; queries read the view `end_user_list`. A deleted one keeps a row
 * without personal data. The key of an end user may be gone before its events are read.
 */
export const endUserListProjection = (box: SecretBox): Projection => ({
  name: END_USER_LIST.name,
  version: 3,
  categories: [endUserCodec.category],

  async createTables(tx, suffix) {
    await tx.query(`
      CREATE TABLE ${tableOf(suffix)} (
        id text COLLATE "C" PRIMARY KEY, account_id text NOT NULL,
        external_id text COLLATE "C", display_name text, metadata jsonb, tags text[],
        status text NOT NULL, suspended_at timestamptz,
        created_at timestamptz NOT NULL, updated_at timestamptz NOT NULL, erased boolean NOT NULL DEFAULT false,
        revision bigint NOT NULL, policy jsonb
      )`);
    const live = `WHERE status <> 'deleted'`;
    await tx.query(`CREATE INDEX ON ${tableOf(suffix)} (account_id, id) ${live}`);
    await tx.query(`CREATE INDEX ON ${tableOf(suffix)} (account_id, external_id) ${live}`);
    await tx.query(`CREATE INDEX ON ${tableOf(suffix)} USING gin (tags) ${live}`);
    await tx.query(`CREATE INDEX ON ${tableOf(suffix)} (account_id, id) WHERE status = 'suspended'`);
    await tx.query(`CREATE INDEX ON ${tableOf(suffix)} (id) WHERE status = 'deleted' AND NOT erased`);
  },

  async dropTables(tx, suffix) {
    await tx.query(`DROP TABLE IF EXISTS ${tableOf(suffix)} CASCADE`);
  },

  async publish(tx, suffix) {
    await tx.query(`CREATE OR REPLACE VIEW end_user_list AS SELECT ${COLUMNS} FROM ${tableOf(suffix)}`);
  },

  async apply(tx, suffix, recorded) {
    const events = recorded.map((event) => ({
      ...endUserCodec.fromStored(event),
      revision: revisionOf(event),
    }));
    const data = await openKeys(tx, box, [...new Set(events.map(({ endUserId }) => endUserId))]);
    // Runs of creations are inserted at once; the order of the events of one end user is kept.
    let created: Created[] = [];
    for (const event of events) {
      if (event.type === 'EndUserCreated') {
        created.push(event);
        continue;
      }
      await insert(tx, suffix, created, data);
      created = [];
      await change(tx, suffix, event, data.get(event.endUserId));
    }
    await insert(tx, suffix, created, data);
  },
});

interface Revised {
  /** The revision of the event in the stream of its end user, decimal. */
  readonly revision: string;
}
type Created = EndUserCreated & Revised;
type Changed = Exclude<EndUserEvent, EndUserCreated> & Revised;

const revisionOf = ({ revision }: RecordedEvent): string => revision.toString();

const insert = async (
  tx: SqlRunner,
  suffix: string,
  created: readonly Created[],
  data: ReadonlyMap<string, PersonalData>,
): Promise<void> => {
  if (created.length === 0) return;
  const rows = created.map((event) => {
    const { endUserId, accountId, createdAt, revision } = event;
    return { endUserId, accountId, createdAt, revision, ...data.get(endUserId)?.open(event) };
  });
  await tx.query(
    `INSERT INTO ${tableOf(suffix)}
       (id, account_id, external_id, display_name, metadata, tags, status, created_at, updated_at, revision)
     SELECT "endUserId", "accountId", "externalId", "displayName", metadata, tags, 'active', "createdAt", "createdAt",
       revision
     FROM jsonb_to_recordset($1::jsonb) AS made (
       "endUserId" text, "accountId" text, "externalId" text, "displayName" text, metadata jsonb, tags text[],
       "createdAt" timestamptz, revision bigint
     )
     ON CONFLICT (id) DO NOTHING`,
    [JSON.stringify(rows)],
  );
};

const change = async (
  tx: SqlRunner,
  suffix: string,
  event: Changed,
  data: PersonalData | undefined,
): Promise<void> => {
  const table = tableOf(suffix);
  const { endUserId, revision } = event;
  switch (event.type) {
    case 'EndUserUpdated': {
      const { displayName = null, metadata = null, tags = null } = event;
      const sealed: SealedFields = { externalId: null, displayName, metadata, tags };
      await update(tx, table, event, data?.open(sealed));
      return;
    }
    case 'EndUserSuspended':
    case 'EndUserResumed': {
      const [status, since] = event.type === 'EndUserSuspended' ? ['suspended', event.at] : ['active', null];
      const sets = 'status = $2, suspended_at = $3, updated_at = $4, revision = $5';
      const values = [endUserId, status, since, event.at, revision];
      await tx.query(`UPDATE ${table} SET ${sets} WHERE id = $1`, values);
      return;
    }
    case 'EndUserPolicySet':
    case 'EndUserPolicyRemoved': {
      const policy = event.type === 'EndUserPolicySet' ? JSON.stringify(event.policy) : null;
      const sets = 'policy = $2::jsonb, updated_at = $3';
      await tx.query(`UPDATE ${table} SET ${sets} WHERE id = $1`, [endUserId, policy, event.at]);
      return;
    }
    case 'EndUserDeleted': {
      const sets = `status = 'deleted', external_id = NULL, display_name = NULL, metadata = NULL, tags = NULL`;
      await tx.query(`UPDATE ${table} SET ${sets} WHERE id = $1`, [endUserId]);
      return;
    }
    case 'EndUserErased':
      await tx.query(`UPDATE ${table} SET erased = true WHERE id = $1`, [endUserId]);
  }
};

const update = async (
  tx: SqlRunner,
  table: string,
  event: Extract<EndUserEvent, { type: 'EndUserUpdated' }>,
  opened: PersonalFields | undefined,
): Promise<void> => {
  await tx.query(
    `UPDATE ${table} SET updated_at = $2,
       display_name = CASE WHEN $3 THEN $4 ELSE display_name END,
       metadata = CASE WHEN $5 THEN $6::jsonb ELSE metadata END,
       tags = CASE WHEN $7 THEN $8::text[] ELSE tags END
     WHERE id = $1`,
    [
      event.endUserId,
      event.updatedAt,
      event.displayName !== undefined,
      opened?.displayName ?? null,
      event.metadata !== undefined,
      JSON.stringify(opened?.metadata ?? {}),
      event.tags !== undefined,
      opened?.tags ?? [],
    ],
  );
};
