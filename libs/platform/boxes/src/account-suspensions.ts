import { Database, type SqlRunner } from '@berth/persistence';
import { Inject, Injectable } from '@nestjs/common';
import { Suspensions } from './suspensions.js';

/** The suspended accounts, as `accounts` published them. */
@Injectable()
export class AccountSuspensions extends Suspensions {
  constructor(@Inject(Database) database: SqlRunner) {
    super(database, { table: 'account_suspensions', id: 'account_id' });
  }
}
