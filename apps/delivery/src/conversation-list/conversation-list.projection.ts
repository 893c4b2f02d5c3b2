import type { Projection, RecordedEvent } from '@berth/event-store';
import type { SqlRunner } from '@berth/persistence';
import { deliveryCodec } from '../delivery/delivery.events.js';
import type { DeliveryEvent } from '../delivery/delivery.js';
import { recipientCodec } from '../recipient/recipient.js';

const conversations = (suffix: string): string => `conversation_${suffix}`;
const deliveries = (suffix: string): string => `delivery_${suffix}`;

type Accepted = Extract<DeliveryEvent, { type: 'MessageAccepted' }>['data'];

/** The changes of one batch of events, in the order of the log. */
interface Changes {
  readonly accepted: Accepted[];
  readonly ended: { id: string; state: 'answered' | 'failed'; code: string | null; ended_at: string }[];
  readonly gone: string[];
}

/** The conversations of agents, the current one of each agent, and the state of each message. */
export const conversationListProjection: Projection = {
  name: 'conversation-list',
  version: 1,
  categories: [deliveryCodec.category, recipientCodec.category],

  async createTables(tx, suffix) {
    await tx.query(`CREATE TABLE ${conversations(suffix)} (
      agent_id text NOT NULL, id text NOT NULL, opened_at timestamptz(3) NOT NULL, last_message_at timestamptz(3) NOT NULL,
      last_delivery_id text NOT NULL, messages bigint NOT NULL, PRIMARY KEY (agent_id, id))`);
    await tx.query(`CREATE INDEX ON ${conversations(suffix)} (agent_id, last_delivery_id DESC)`);
    await tx.query(`CREATE TABLE ${deliveries(suffix)} (
      id text PRIMARY KEY, agent_id text NOT NULL, conversation_id text NOT NULL, kind text NOT NULL, state text NOT NULL,
      code text, accepted_at timestamptz(3) NOT NULL, ended_at timestamptz(3))`);
    await tx.query(`CREATE INDEX ON ${deliveries(suffix)} (agent_id, id DESC)`);
    await tx.query(`CREATE INDEX ON ${deliveries(suffix)} (accepted_at) WHERE state = 'accepted'`);
  },

  async dropTables(tx, suffix) {
    await tx.query(`DROP TABLE IF EXISTS ${conversations(suffix)}, ${deliveries(suffix)} CASCADE`);
  },

  async publish(tx, suffix) {
    await tx.query('DROP VIEW IF EXISTS conversation, delivery');
    await tx.query(`CREATE VIEW conversation AS SELECT * FROM ${conversations(suffix)}`);
    await tx.query(`CREATE VIEW delivery AS SELECT * FROM ${deliveries(suffix)}`);
  },

  async apply(tx, suffix, events) {
    const changes = gather(events);
    if (changes.accepted.length > 0) await addAccepted(tx, suffix, changes.accepted);
    if (changes.ended.length > 0) await markEnded(tx, suffix, changes.ended);
    if (changes.gone.length > 0) {
      await tx.query(`DELETE FROM ${conversations(suffix)} WHERE agent_id = ANY($1)`, [changes.gone]);
      await tx.query(`DELETE FROM ${deliveries(suffix)} WHERE agent_id = ANY($1)`, [changes.gone]);
    }
  },
};

const gather = (events: readonly RecordedEvent[]): Changes => {
  const changes: Changes = { accepted: [], ended: [], gone: [] };
  for (const recorded of events) {
    if (recorded.stream.startsWith(`${recipientCodec.category}-`)) {
      changes.gone.push(recipientCodec.fromStored(recorded).data.agentId);
      continue;
    }
    const event = deliveryCodec.fromStored(recorded);
    if (event.type === 'MessageAccepted') changes.accepted.push(event.data);
    // A message that was refused was never in a conversation.
    else if (event.type !== 'MessageRefused') {
      const code = event.type === 'MessageFailed' ? event.data.code : null;
      const state = event.type === 'MessageAnswered' ? 'answered' : 'failed';
      changes.ended.push({ id: event.data.deliveryId, state, code, ended_at: event.data.at });
    }
  }
  return changes;
};

const addAccepted = async (tx: SqlRunner, suffix: string, accepted: readonly Accepted[]): Promise<void> => {
  const columns = [
    accepted.map((message) => message.deliveryId),
    accepted.map((message) => message.agentId),
    accepted.map((message) => message.conversationId),
    accepted.map((message) => message.kind),
    accepted.map((message) => message.at),
  ];
  await tx.query(
    `INSERT INTO ${deliveries(suffix)} (id, agent_id, conversation_id, kind, state, accepted_at)
     SELECT id, agent_id, conversation_id, kind, 'accepted', accepted_at
     FROM unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::timestamptz[])
       AS message(id, agent_id, conversation_id, kind, accepted_at)`,
    columns,
  );
  await tx.query(
    `INSERT INTO ${conversations(suffix)} AS known (agent_id, id, opened_at, last_message_at, last_delivery_id, messages)
     SELECT agent_id, conversation_id, min(at), max(at), max(id), count(*)
     FROM unnest($1::text[], $2::text[], $3::text[], $4::timestamptz[]) AS message(id, agent_id, conversation_id, at)
     GROUP BY agent_id, conversation_id
     ON CONFLICT (agent_id, id) DO UPDATE SET
       last_message_at = greatest(known.last_message_at, excluded.last_message_at),
       last_delivery_id = greatest(known.last_delivery_id, excluded.last_delivery_id),
       messages = known.messages + excluded.messages`,
    [columns[0], columns[1], columns[2], columns[4]],
  );
};

const markEnded = async (tx: SqlRunner, suffix: string, ended: Changes['ended']): Promise<void> => {
  await tx.query(
    `UPDATE ${deliveries(suffix)} AS known SET state = outcome.state, code = outcome.code, ended_at = outcome.ended_at
     FROM jsonb_to_recordset($1::jsonb) AS outcome(id text, state text, code text, ended_at timestamptz)
     WHERE known.id = outcome.id`,
    [JSON.stringify(ended)],
  );
};
