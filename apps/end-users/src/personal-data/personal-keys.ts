import { Database, SecretBox, type SqlRunner } from '@berth/persistence';
import { PersonalKeyVault, type PersonalKey } from '@berth/personal-data';
import { Inject, Injectable } from '@nestjs/common';
import { PersonalData } from './personal-data.js';

const TABLE = 'end_users_vault.personal_keys';

/**
 * The vault of keys, one for each end user. The event log holds personal data only encrypted under these keys, so
 * destroying a key makes the data of its end user unreadable.
 */
@Injectable()
export class PersonalKeys {
  private readonly vault: PersonalKeyVault;

  constructor(
    @Inject(Database) private readonly database: SqlRunner,
    private readonly box: SecretBox,
  ) {
    this.vault = new PersonalKeyVault(database, box, TABLE);
  }

  /** Returns the personal data of an end user and makes its key if it has none; null if the key is destroyed. */
  async ensure(endUserId: string): Promise<PersonalData | null> {
    return dataUnder(await this.vault.ensure(endUserId));
  }

  /** Returns the personal data of an end user; null if it has no key. */
  async find(endUserId: string): Promise<PersonalData | null> {
    return dataUnder(await this.vault.find(endUserId));
  }

  /** Returns the personal data of those of the end users that have a key. */
  findAll(endUserIds: readonly string[]): Promise<ReadonlyMap<string, PersonalData>> {
    return openKeys(this.database, this.box, endUserIds);
  }

  /** Once this returns, nothing in the event log reveals personal data of the end user. Idempotent. */
  destroy(endUserId: string): Promise<void> {
    return this.vault.destroy(endUserId);
  }
}

const dataUnder = (key: PersonalKey | null | undefined): PersonalData | null =>
  key === null || key === undefined ? null : new PersonalData(key);

/** Returns the personal data of those of the end users that have a key. */
export const openKeys = async (
  tx: SqlRunner,
  box: SecretBox,
  endUserIds: readonly string[],
): Promise<ReadonlyMap<string, PersonalData>> => {
  const keys = await new PersonalKeyVault(tx, box, TABLE).findAll(tx, endUserIds);
  return new Map([...keys].map(([id, key]) => [id, new PersonalData(key)]));
};
