import type { Migration } from '@berth/persistence';
import { createPersonalKeyVault } from '@berth/personal-data';

/**
 * The tables that are not projections. `personal_key_vault` (copies of the keys of end users who own computers) belongs
 * in every backup.
 */
export const createComputersTables: Migration = {
  name: '2026-11-28-computers',
  async up(tx) {
    await createPersonalKeyVault(tx, 'personal_key_vault');
    await tx.query(`CREATE TABLE computer_activity (
      computer_id text COLLATE "C" PRIMARY KEY,
      last_active_at timestamptz(3) NOT NULL,
      sleep_at timestamptz(3))`);
    await tx.query(`CREATE TABLE computer_hosts (
      host text PRIMARY KEY,
      incarnation text NOT NULL,
      last_seen_at timestamptz NOT NULL)`);
    await tx.query(`CREATE TABLE account_suspensions (
      account_id text COLLATE "C" PRIMARY KEY,
      suspended boolean NOT NULL,
      position numeric(20) NOT NULL)`);
    await tx.query(`CREATE TABLE end_user_suspensions (
      end_user_id text COLLATE "C" PRIMARY KEY,
      suspended boolean NOT NULL,
      position numeric(20) NOT NULL)`);
    // A viewer session lives for an hour at most, and so do the revocations that end them.
    await tx.query(`CREATE TABLE revoked_keys (
      key_id text COLLATE "C" PRIMARY KEY,
      revoked_at timestamptz NOT NULL,
      position numeric(20) NOT NULL)`);
  },
};
