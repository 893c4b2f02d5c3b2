import type { Migration } from '@berth/persistence';

/**
 * The vault: tables in a separate schema for data that must not be in the event log. Backups contain it, because it
 * cannot be rebuilt from the log.
 */
export const migrations: readonly Migration[] = [
  {
    name: '2026-11-21-create-key-vault',
    up: async (tx) => {
      await tx.query('CREATE SCHEMA IF NOT EXISTS accounts_vault');
      // A revoked key keeps its row, without the hash, so that a mint that is still in flight cannot restore the key.
      await tx.query(`
        CREATE TABLE accounts_vault.key_secrets (
          key_id text COLLATE "C" PRIMARY KEY,
          account_id text NOT NULL,
          key_hash bytea UNIQUE,
          scopes text[] NOT NULL,
          expires_at timestamptz,
          revoked_at timestamptz,
          CHECK ((key_hash IS NULL) = (revoked_at IS NOT NULL))
        )`);
      await tx.query(`
        CREATE TABLE accounts_vault.key_usage (
          key_id text COLLATE "C" PRIMARY KEY,
          last_used_at timestamptz NOT NULL
        )`);
    },
  },
  {
    name: '2026-11-22-name-the-log-of-each-key',
    // NULL for a key stored by a release without this column; the next start assigns the current log to it.
    up: async (tx) => {
      await tx.query('ALTER TABLE accounts_vault.key_secrets ADD COLUMN log_id text');
    },
  },
  {
    name: '2026-11-23-create-account-standing',
    up: async (tx) => {
      await tx.query(`
        CREATE TABLE account_standing (
          account_id text COLLATE "C" PRIMARY KEY,
          suspended boolean NOT NULL,
          revision bigint NOT NULL
        )`);
    },
  },
  {
    name: '2026-11-23-create-feedback-reports',
    // What people write must be erasable.
    up: async (tx) => {
      await tx.query(`
        CREATE TABLE accounts_vault.feedback_reports (
          id text COLLATE "C" PRIMARY KEY,
          account_id text NOT NULL,
          key_id text NOT NULL,
          kind text NOT NULL,
          subject text,
          message text NOT NULL,
          request_id text,
          status_code integer,
          tool text,
          created_at timestamptz(3) NOT NULL
        )`);
    },
  },
];
