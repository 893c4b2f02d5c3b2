import { setTimeout as delay } from 'node:timers/promises';
import { newId } from '@berth/kernel';
import { Database, type SqlRunner } from '@berth/persistence';
import { RunOnOneInstance, type Runnable } from '@berth/service';
import { Logger } from '@berth/telemetry';
import { Inject, Injectable } from '@nestjs/common';
import { EndUserErasure } from './end-user-erasure.js';
import { EndUserStreams } from './end-user.streams.js';

const EVERY_MS = 5_000;

/**
 * Finishes interrupted deletions, and destroys the key of every deleted end user whose key a restored backup brought
 * back: the log's record of the deletion counts.
 */
@RunOnOneInstance({ name: 'unfinished-erasures' })
@Injectable()
export class UnfinishedErasures implements Runnable {
  constructor(
    private readonly erasure: EndUserErasure,
    private readonly streams: EndUserStreams,
    @Inject(Database) private readonly database: SqlRunner,
    private readonly log: Logger,
  ) {}

  async run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      for (const endUserId of await this.find()) await this.finish(endUserId);
      await delay(EVERY_MS, undefined, { signal }).catch(() => undefined);
    }
  }

  private async find(): Promise<readonly string[]> {
    const rows = await this.database.query<{ id: string }>(
      `SELECT id FROM end_user_list WHERE status = 'deleted' AND NOT erased
       UNION ALL
       SELECT kept.end_user_id FROM end_users_vault.personal_keys kept JOIN end_user_list listed
         ON listed.id = kept.end_user_id AND listed.status = 'deleted' AND listed.erased
       WHERE kept.sealed_key IS NOT NULL LIMIT 100`,
    );
    return rows.map(({ id }) => id);
  }

  private async finish(endUserId: string): Promise<void> {
    try {
      const { state } = await this.streams.load(endUserId);
      if (state.kind !== 'deleted') return;
      const { accountId } = state;
      await this.erasure.run(state, {
        commandId: newId('cmd'),
        accountId,
        actor: { kind: 'system', id: 'end-users' },
      });
    } catch (error) {
      this.log.warn(
        { err: error, endUserId },
        'the deletion of an end user is not complete; it is tried again',
      );
    }
  }
}
