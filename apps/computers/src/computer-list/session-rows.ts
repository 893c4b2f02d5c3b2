import type { RecordedEvent } from '@berth/event-store';
import type { SqlRunner } from '@berth/persistence';
import { viewerSessionCodec, type ViewerSessionEvent } from '../viewer/viewer-session.js';

const table = (suffix: string): string => `viewer_sessions_${suffix}`;

export const createSessionTable = async (tx: SqlRunner, suffix: string): Promise<void> => {
  const name = table(suffix);
  await tx.query(`
    CREATE TABLE ${name} (
      id text COLLATE "C" PRIMARY KEY,
      computer_id text COLLATE "C" NOT NULL,
      account_id text NOT NULL,
      key_id text NOT NULL,
      mode text NOT NULL,
      takeover boolean NOT NULL,
      secret_hash text NOT NULL,
      created_at timestamptz(3) NOT NULL,
      opened_at timestamptz(3),
      expires_at timestamptz(3) NOT NULL
    )`);
  await tx.query(`CREATE INDEX ON ${name} (computer_id)`);
  await tx.query(`CREATE INDEX ON ${name} (secret_hash)`);
};

/** Adds and removes the rows of sessions, in the order of the events. */
export const applySessions = async (
  tx: SqlRunner,
  suffix: string,
  recorded: readonly RecordedEvent[],
): Promise<void> => {
  const events = recorded.map((event) => viewerSessionCodec.fromStored(event));
  await opened(
    tx,
    suffix,
    events.flatMap((event) => (event.type === 'ViewerSessionOpened' ? [event.data] : [])),
  );
  const connected = events.flatMap((event) => (event.type === 'ViewerSessionConnected' ? [event.data] : []));
  if (connected.length > 0)
    await tx.query(
      `UPDATE ${table(suffix)} SET opened_at = item.at
       FROM jsonb_to_recordset($1::jsonb) AS item("sessionId" text, at timestamptz) WHERE id = item."sessionId"`,
      [JSON.stringify(connected)],
    );
  const ended = events.flatMap((event) =>
    event.type === 'ViewerSessionEnded' ? [event.data.sessionId] : [],
  );
  if (ended.length > 0) await tx.query(`DELETE FROM ${table(suffix)} WHERE id = ANY($1)`, [ended]);
};

type Opened = Extract<ViewerSessionEvent, { readonly type: 'ViewerSessionOpened' }>['data'];

const opened = async (tx: SqlRunner, suffix: string, sessions: readonly Opened[]): Promise<void> => {
  if (sessions.length === 0) return;
  await tx.query(
    `INSERT INTO ${table(suffix)}
       (id, computer_id, account_id, key_id, mode, takeover, secret_hash, created_at, expires_at)
     SELECT "sessionId", "computerId", "accountId", "keyId", mode, takeover, "secretHash", at, "expiresAt"
     FROM jsonb_to_recordset($1::jsonb) AS item(
       "sessionId" text, "computerId" text, "accountId" text, "keyId" text, mode text, takeover boolean,
       "secretHash" text, at timestamptz, "expiresAt" timestamptz)
     ON CONFLICT (id) DO NOTHING`,
    [JSON.stringify(sessions)],
  );
};
