import { Database, type SqlRunner } from '@berth/persistence';
import { Inject, Injectable } from '@nestjs/common';
import { Suspensions } from './suspensions.js';

/**
 * The suspended end users, as `end-users` told and published them. A table of its own, so that the boxes of others work while
 * `end-users` is down.
 */
@Injectable()
export class EndUserSuspensions extends Suspensions {
  constructor(@Inject(Database) database: SqlRunner) {
    super(database, { table: 'end_user_suspensions', id: 'end_user_id' });
  }
}
