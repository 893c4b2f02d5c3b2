import type { KeyView, ListKeys } from '@berth/contracts/accounts';
import { isId, type Page } from '@berth/kernel';
import { Database, decodeCursor, encodeCursor } from '@berth/persistence';
import { Injectable } from '@nestjs/common';
import { LessThan } from 'typeorm';
import { KeyRow } from './key-row.entity.js';

/** The keys of an account, the newest first: ids sort by time of creation. */
@Injectable()
export class KeyListQuery {
  constructor(private readonly database: Database) {}

  async run({ accountId, cursor, limit }: ListKeys): Promise<Page<KeyView>> {
    const before = cursor === null ? null : decodeCursor<string>(cursor, isKeyId);
    const rows = await this.database.entities((manager) =>
      manager.find(KeyRow, {
        where: { accountId, ...(before === null ? {} : { id: LessThan(before) }) },
        relations: { usage: true },
        order: { id: 'DESC' },
        take: limit + 1,
      }),
    );
    const items = rows.slice(0, limit).map(toView);
    const last = items.at(-1);
    return { items, nextCursor: rows.length > limit && last !== undefined ? encodeCursor(last.id) : null };
  }
}

const isKeyId = (value: unknown): boolean => typeof value === 'string' && isId('key', value);

const toView = (row: KeyRow): KeyView => ({
  id: row.id,
  name: row.name,
  scopes: row.scopes,
  accountId: row.accountId,
  createdAt: row.createdAt.toISOString(),
  lastUsedAt: row.usage?.lastUsedAt.toISOString() ?? null,
  expiresAt: row.expiresAt?.toISOString() ?? null,
  revokedAt: row.revokedAt?.toISOString() ?? null,
});
