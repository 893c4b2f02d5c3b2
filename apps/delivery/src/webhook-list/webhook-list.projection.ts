import type { Projection, RecordedEvent } from '@berth/event-store';
import type { SqlRunner } from '@berth/persistence';
import { recipientCodec } from '../recipient/recipient.js';
import { webhookCodec } from '../webhook/webhook-delivery.events.js';
import type { WebhookEvent } from '../webhook/webhook-delivery.js';
import { webhookTokenCodec } from '../webhook-token/webhook-token.js';

const deliveries = (suffix: string): string => `webhook_delivery_${suffix}`;
const tokens = (suffix: string): string => `webhook_token_${suffix}`;

type Accepted = Extract<WebhookEvent, { readonly type: 'WebhookAccepted' }>['data'];

interface Progress {
  readonly id: string;
  readonly status: 'queued' | 'delivered' | 'failed';
  readonly attempts: number;
  readonly code: string | null;
  readonly ended_at: string | null;
}

/** The changes of one batch of events. */
interface Changes {
  readonly accepted: (Accepted & { readonly accountId: string })[];
  /** The last one of each delivery. */
  readonly progress: Map<string, Progress>;
  readonly tokens: Map<string, bigint>;
  readonly gone: string[];
}

/** The deliveries of webhooks, and the revision at which each agent got its current token. */
export const webhookListProjection: Projection = {
  name: 'webhook-list',
  version: 1,
  categories: [webhookCodec.category, webhookTokenCodec.category, recipientCodec.category],

  async createTables(tx, suffix) {
    await tx.query(`CREATE TABLE ${deliveries(suffix)} (
      id text COLLATE "C" PRIMARY KEY, agent_id text COLLATE "C" NOT NULL, account_id text NOT NULL,
      status text NOT NULL, attempts integer NOT NULL, bytes integer NOT NULL, code text,
      created_at timestamptz(3) NOT NULL, ended_at timestamptz(3))`);
    await tx.query(`CREATE INDEX ON ${deliveries(suffix)} (agent_id, id DESC)`);
    await tx.query(`CREATE INDEX ON ${deliveries(suffix)} (created_at) WHERE status = 'queued'`);
    await tx.query(`CREATE TABLE ${tokens(suffix)} (
      agent_id text COLLATE "C" PRIMARY KEY, revision bigint NOT NULL)`);
  },

  async dropTables(tx, suffix) {
    await tx.query(`DROP TABLE IF EXISTS ${deliveries(suffix)}, ${tokens(suffix)} CASCADE`);
  },

  async publish(tx, suffix) {
    await tx.query('DROP VIEW IF EXISTS webhook_delivery, webhook_token');
    await tx.query(`CREATE VIEW webhook_delivery AS SELECT * FROM ${deliveries(suffix)}`);
    await tx.query(`CREATE VIEW webhook_token AS SELECT * FROM ${tokens(suffix)}`);
  },

  async apply(tx, suffix, events) {
    const changes = gather(events);
    if (changes.accepted.length > 0) await addAccepted(tx, suffix, changes.accepted);
    if (changes.progress.size > 0) await addProgress(tx, suffix, [...changes.progress.values()]);
    if (changes.tokens.size > 0) await setTokens(tx, suffix, changes.tokens);
    if (changes.gone.length > 0) {
      await tx.query(`DELETE FROM ${deliveries(suffix)} WHERE agent_id = ANY($1)`, [changes.gone]);
      await tx.query(`DELETE FROM ${tokens(suffix)} WHERE agent_id = ANY($1)`, [changes.gone]);
    }
  },
};

const gather = (events: readonly RecordedEvent[]): Changes => {
  const changes: Changes = { accepted: [], progress: new Map(), tokens: new Map(), gone: [] };
  for (const recorded of events) {
    if (recorded.stream.startsWith(`${recipientCodec.category}-`)) {
      changes.gone.push(recipientCodec.fromStored(recorded).data.agentId);
    } else if (recorded.stream.startsWith(`${webhookTokenCodec.category}-`)) {
      changes.tokens.set(webhookTokenCodec.fromStored(recorded).data.agentId, recorded.revision);
    } else gatherDelivery(webhookCodec.fromStored(recorded), recorded.metadata.accountId, changes);
  }
  return changes;
};

const gatherDelivery = ({ type, data }: WebhookEvent, accountId: string, changes: Changes): void => {
  const { deliveryId: id } = data;
  switch (type) {
    case 'WebhookAccepted':
      changes.accepted.push({ ...data, accountId });
      return;
    case 'WebhookAttemptFailed':
      changes.progress.set(id, { id, status: 'queued', attempts: data.attempts, code: null, ended_at: null });
      return;
    case 'WebhookDelivered': {
      const { attempts, at } = data;
      changes.progress.set(id, { id, status: 'delivered', attempts, code: null, ended_at: at });
      return;
    }
    case 'WebhookFailed': {
      const { attempts, code, at } = data;
      changes.progress.set(id, { id, status: 'failed', attempts, code, ended_at: at });
    }
  }
};

const addAccepted = async (tx: SqlRunner, suffix: string, accepted: Changes['accepted']): Promise<void> => {
  await tx.query(
    `INSERT INTO ${deliveries(suffix)} (id, agent_id, account_id, status, attempts, bytes, created_at)
     SELECT id, agent_id, account_id, 'queued', 0, bytes, created_at
     FROM unnest($1::text[], $2::text[], $3::text[], $4::integer[], $5::timestamptz[])
       AS delivery(id, agent_id, account_id, bytes, created_at)`,
    [
      accepted.map(({ deliveryId }) => deliveryId),
      accepted.map(({ agentId }) => agentId),
      accepted.map(({ accountId }) => accountId),
      accepted.map(({ bytes }) => bytes),
      accepted.map(({ at }) => at),
    ],
  );
};

const addProgress = async (tx: SqlRunner, suffix: string, progress: readonly Progress[]): Promise<void> => {
  await tx.query(
    `UPDATE ${deliveries(suffix)} AS known SET status = step.status, attempts = step.attempts, code = step.code,
       ended_at = step.ended_at
     FROM jsonb_to_recordset($1::jsonb)
       AS step(id text, status text, attempts integer, code text, ended_at timestamptz)
     WHERE known.id = step.id`,
    [JSON.stringify(progress)],
  );
};

const setTokens = async (
  tx: SqlRunner,
  suffix: string,
  revisions: ReadonlyMap<string, bigint>,
): Promise<void> => {
  await tx.query(
    `INSERT INTO ${tokens(suffix)} (agent_id, revision) SELECT * FROM unnest($1::text[], $2::bigint[])
     ON CONFLICT (agent_id) DO UPDATE SET revision = excluded.revision`,
    [[...revisions.keys()], [...revisions.values()].map(String)],
  );
};
