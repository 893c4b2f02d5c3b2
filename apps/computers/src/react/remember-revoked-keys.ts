import { accountsEvents, type KeyRevokedEvent } from '@berth/contracts/accounts';
import type { ReceivedEvent } from '@berth/messaging';
import type { SqlRunner } from '@berth/persistence';
import { ConsumeEvents, type EventReaction } from '@berth/service';
import { Injectable } from '@nestjs/common';

/**
 * Stores revoked keys for as long as a viewer session may live; the sessions that they made are over. A table, so that a
 * session that is being made at the same time ends, too.
 */
@ConsumeEvents({
  context: 'accounts',
  durable: 'computers__revoked-keys',
  events: [accountsEvents.keyRevoked],
})
@Injectable()
export class RememberRevokedKeys implements EventReaction<KeyRevokedEvent> {
  async handle({ payload, position }: ReceivedEvent<KeyRevokedEvent>, tx: SqlRunner): Promise<void> {
    await tx.query(
      `INSERT INTO revoked_keys (key_id, revoked_at, position) VALUES ($1, $2, $3) ON CONFLICT (key_id) DO NOTHING`,
      [payload.keyId, payload.at, position.toString()],
    );
    await tx.query(`DELETE FROM revoked_keys WHERE revoked_at < now() - interval '2 hours'`);
  }

  /** Call it when the log was replaced or restored. */
  async forgetAfter(position: bigint | null, tx: SqlRunner): Promise<void> {
    await tx.query('DELETE FROM revoked_keys WHERE position > $1', [(position ?? -1n).toString()]);
  }
}
