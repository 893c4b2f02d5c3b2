import { createHmac, randomBytes } from 'node:crypto';
import { Database, SecretBox, type SqlRunner } from '@berth/persistence';
import { Inject, Injectable, type OnModuleInit } from '@nestjs/common';

const AAD = 'lookup';

/**
 * Finds the stream that maps an external id to its end user. External ids can be guessed, so their hash is keyed: who
 * has only the log cannot test guesses. The key stays for the lifetime of the installation, whatever key wraps it.
 */
@Injectable()
export class LookupKey implements OnModuleInit {
  #key = Buffer.alloc(0);

  constructor(
    @Inject(Database) private readonly database: SqlRunner,
    private readonly box: SecretBox,
  ) {}

  async onModuleInit(): Promise<void> {
    await this.database.query(
      'INSERT INTO end_users_vault.lookup_key VALUES (true, $1) ON CONFLICT (only_row) DO NOTHING',
      [this.box.seal(randomBytes(32).toString('base64'), AAD)],
    );
    const [row] = await this.database.query<{ sealed: string }>(
      'SELECT sealed_key AS sealed FROM end_users_vault.lookup_key',
    );
    if (row === undefined) throw new Error('The vault has no key for external ids.');
    this.#key = Buffer.from(this.box.open(row.sealed, AAD), 'base64');
  }

  /** 40 hexadecimal digits. */
  idOf(accountId: string, externalId: string): string {
    return createHmac('sha256', this.#key).update(`${accountId}\0${externalId}`).digest('hex').slice(0, 40);
  }
}
