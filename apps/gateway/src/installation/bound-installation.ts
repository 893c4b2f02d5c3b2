import { Database } from '@berth/persistence';
import { Injectable } from '@nestjs/common';

/** The installation to which the stored responses belong, by the identity of its event log. */
@Injectable()
export class BoundInstallation {
  constructor(private readonly database: Database) {}

  /**
   * Binds the stored responses to the installation with that log. Returns false if they belong to another installation.
   * Without stored responses, the binding is replaced. Throws `unavailable` while the database is down.
   */
  async bindTo(logId: string): Promise<boolean> {
    const bound = await this.database.query(BIND, [logId]);
    return bound.length > 0;
  }
}

const BIND = `
  INSERT INTO installation AS bound (log_id) VALUES ($1)
  ON CONFLICT (only_row) DO UPDATE SET log_id = excluded.log_id
  WHERE bound.log_id = excluded.log_id
     OR NOT EXISTS (SELECT FROM idempotent_answers WHERE expires_at > now())
  RETURNING log_id`;
