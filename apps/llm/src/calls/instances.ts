import { Database, type Migration, type SqlRunner } from '@berth/persistence';
import { ServiceContext } from '@berth/service';
import { pause, Supervisor } from '@berth/supervision';
import { Inject, Injectable, type OnApplicationBootstrap } from '@nestjs/common';
import { Instance } from './instance.js';

const BEAT_MS = 2_000;

/** Processes of this service, each with the time of its last heartbeat. */
export const createInstances: Migration = {
  name: '2026-11-23-create-instances',
  up: async (tx) => {
    await tx.query(`CREATE TABLE instances (id text COLLATE "C" PRIMARY KEY, seen_at timestamptz NOT NULL)`);
  },
};

/** Makes it known that this process lives, until it stops. */
@Injectable()
export class Instances implements OnApplicationBootstrap {
  constructor(
    private readonly instance: Instance,
    @Inject(Database) private readonly database: SqlRunner,
    private readonly supervisor: Supervisor,
    private readonly context: ServiceContext,
  ) {}

  async onApplicationBootstrap(): Promise<void> {
    // Before the first call is reserved.
    await this.beat();
    this.supervisor.start('instance', (signal) => this.live(signal));
    this.context.beforeStop(() => this.leave());
  }

  private async live(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      await this.beat();
      await pause(BEAT_MS, signal);
    }
  }

  private async beat(): Promise<void> {
    await this.database.query(
      `INSERT INTO instances (id, seen_at) VALUES ($1, clock_timestamp())
       ON CONFLICT (id) DO UPDATE SET seen_at = excluded.seen_at`,
      [this.instance.id],
    );
  }

  /** Its calls have ended by then; if not, another process ends them at once. */
  private async leave(): Promise<void> {
    await this.database.query('DELETE FROM instances WHERE id = $1', [this.instance.id]);
  }
}
