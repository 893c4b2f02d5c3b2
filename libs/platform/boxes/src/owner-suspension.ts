import { DomainError } from '@berth/kernel';
import { Database, type SqlRunner } from '@berth/persistence';
import { Inject, Injectable } from '@nestjs/common';
import type { Owner } from './owner.js';

/** Whether a suspension forbids anything to begin to use the boxes of an owner. */
export interface OwnerSuspension {
  readonly accountSuspended: boolean;
  readonly endUserSuspended: boolean;
}

/** SQL: the columns of `OwnerSuspension` for each row of `alias`. */
export const suspensionOf = (alias: string): string => `
  EXISTS (
    SELECT FROM account_suspensions s WHERE s.account_id = ${alias}.account_id AND s.suspended
  ) AS "accountSuspended",
  EXISTS (
    SELECT FROM end_user_suspensions s WHERE s.end_user_id = ${alias}.end_user_id AND s.suspended
  ) AS "endUserSuspended"`;

const OF_ONE = `
  SELECT ${suspensionOf('owner')} FROM (SELECT $1::text AS account_id, $2::text AS end_user_id) AS owner`;

/** Errors: forbidden `account_suspended`, `end_user_suspended`. */
export const refuseSuspended = ({ accountSuspended, endUserSuspended }: OwnerSuspension): void => {
  if (accountSuspended) throw new DomainError('forbidden', 'account_suspended', 'The account is suspended.');
  if (endUserSuspended)
    throw new DomainError(
      'forbidden',
      'end_user_suspended',
      'The end user is suspended. Resume the end user first.',
    );
};

/** Both suspensions in one statement: each statement costs a wake a round trip. */
@Injectable()
export class OwnerSuspensionQuery {
  constructor(@Inject(Database) private readonly database: SqlRunner) {}

  /** Errors: see `refuseSuspended`. */
  async requireActive({ accountId, endUserId }: Owner): Promise<void> {
    for (const row of await this.database.query<OwnerSuspension>(OF_ONE, [accountId, endUserId]))
      refuseSuspended(row);
  }
}
