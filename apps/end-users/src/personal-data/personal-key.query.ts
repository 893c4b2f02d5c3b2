import type { FindPersonalKeys, FoundPersonalKey, PersonalKeyView } from '@berth/contracts/end-users';
import { Database, type SqlRunner } from '@berth/persistence';
import type { PersonalKey } from '@berth/personal-data';
import { Inject, Injectable } from '@nestjs/common';
import { EndUserStreams } from '../end-user/end-user.streams.js';
import { PersonalKeys } from './personal-keys.js';

/** The keys of end users, for the services that hold personal data of them. */
@Injectable()
export class PersonalKeyQuery {
  constructor(
    private readonly streams: EndUserStreams,
    private readonly keys: PersonalKeys,
    @Inject(Database) private readonly database: SqlRunner,
  ) {}

  /** The log decides: a key that a restored backup has brought back is not given away. */
  async run(endUserId: string): Promise<PersonalKeyView> {
    const { state } = await this.streams.load(endUserId);
    const personal = state.kind === 'deleted' ? null : await this.keys.find(endUserId);
    return { key: personal === null ? null : textOf(personal.key) };
  }

  /** The list, which follows the log, decides, so that many keys cost no more reads than one. */
  async findAll({
    accountId,
    endUserIds,
  }: FindPersonalKeys): Promise<{ readonly items: readonly FoundPersonalKey[] }> {
    const existing = await this.database.query<{ readonly id: string }>(
      `SELECT id FROM end_user_list WHERE account_id = $1 AND id = ANY($2) AND status <> 'deleted'`,
      [accountId, endUserIds],
    );
    const keys = await this.keys.findAll(existing.map(({ id }) => id));
    return { items: [...keys].map(([endUserId, { key }]) => ({ endUserId, key: textOf(key) })) };
  }
}

const textOf = ({ bytes }: PersonalKey): string => Buffer.from(bytes).toString('base64');
