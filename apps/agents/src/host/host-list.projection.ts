import { tablesBehindViews, type Projection, type RecordedEvent } from '@berth/event-store';
import type { SqlRunner } from '@berth/persistence';
import { hostCodec } from './host.events.js';
import type { HostEvent } from './host.js';

const table = (suffix: string): string => `host_list_${suffix}`;

/** What operators decided about hosts: one row for each host that ever joined. */
export const hostListProjection: Projection = {
  name: 'host-list',
  version: 1,
  categories: [hostCodec.category],

  async createTables(tx, suffix) {
    await tx.query(`CREATE TABLE ${table(suffix)} (
      id text PRIMARY KEY,
      name text NOT NULL,
      status text NOT NULL,
      joined_at timestamptz(3) NOT NULL)`);
  },

  ...tablesBehindViews('host_list'),

  async apply(tx, suffix, events) {
    for (const event of events) await applyOne(tx, table(suffix), event);
  },
};

const STATUS = { HostDrained: 'draining', HostResumed: 'ready', HostRemoved: 'removed' } as const;

const applyOne = async (tx: SqlRunner, name: string, recorded: RecordedEvent): Promise<void> => {
  const event: HostEvent = hostCodec.fromStored(recorded);
  if (event.type === 'HostJoined') {
    const { hostId, name: hostName, at } = event.data;
    await tx.query(
      `INSERT INTO ${name} (id, name, status, joined_at) VALUES ($1, $2, 'ready', $3) ON CONFLICT DO NOTHING`,
      [hostId, hostName, at],
    );
  } else
    await tx.query(`UPDATE ${name} SET status = $2 WHERE id = $1`, [event.data.hostId, STATUS[event.type]]);
};
