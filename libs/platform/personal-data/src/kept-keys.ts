import { Database, SecretBox, type SqlRunner } from '@berth/persistence';
import { Inject, Injectable } from '@nestjs/common';
import { EndUserKeys } from './end-user-keys.js';
import type { PersonalKey } from './personal-key.js';
import { PersonalKeyVault } from './personal-key-vault.js';

/** The table of a service that keeps copies of keys; its migrations create it with `createPersonalKeyVault`. */
export const KEPT_KEYS_TABLE = 'personal_key_vault';

/**
 * A service's copies of the keys of end users who own its resources, so that neither lists nor starts have to wait for
 * `end-users`, which keeps the keys and has a copy destroyed before its own.
 */
@Injectable()
export class KeptKeys {
  private readonly vault: PersonalKeyVault;

  constructor(
    @Inject(Database) database: SqlRunner,
    box: SecretBox,
    private readonly endUsers: EndUserKeys,
  ) {
    this.vault = new PersonalKeyVault(database, box, KEPT_KEYS_TABLE);
  }

  /** Returns the stored key; null if it was destroyed. */
  keep(key: PersonalKey): Promise<PersonalKey | null> {
    return this.vault.keep(key);
  }

  /** Returns null if the key was destroyed. Asks `end-users` only for a key whose copy was lost. */
  async find(endUserId: string): Promise<PersonalKey | null> {
    const kept = await this.vault.find(endUserId);
    if (kept !== undefined) return kept;
    const key = await this.endUsers.find(endUserId);
    return key === null ? null : this.keep(key);
  }

  /** Once this has returned, this service has no copy of the key and makes no new one. Idempotent. */
  destroy(endUserId: string): Promise<void> {
    return this.vault.destroy(endUserId);
  }
}

/** The kept keys of those of the end users that have one, read in `tx`. */
export const keptKeysOf = (
  tx: SqlRunner,
  box: SecretBox,
  endUserIds: readonly string[],
): Promise<ReadonlyMap<string, PersonalKey>> =>
  new PersonalKeyVault(tx, box, KEPT_KEYS_TABLE).findAll(tx, [...new Set(endUserIds)]);
