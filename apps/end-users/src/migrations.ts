import type { Migration } from '@berth/persistence';
import { createPersonalKeyVault } from '@berth/personal-data';

/** The vault: a schema of its own for what must not be in the event log. It belongs in every backup. */
export const migrations: readonly Migration[] = [
  {
    name: '2026-11-23-create-end-users-vault',
    up: async (tx) => {
      await tx.query('CREATE SCHEMA IF NOT EXISTS end_users_vault');
      await createPersonalKeyVault(tx, 'end_users_vault.personal_keys');
      await tx.query(`
        CREATE TABLE end_users_vault.lookup_key (only_row boolean PRIMARY KEY CHECK (only_row), sealed_key text NOT NULL)`);
      await tx.query(`
        CREATE TABLE end_users_vault.activity (
          end_user_id text COLLATE "C" PRIMARY KEY,
          last_active_at timestamptz NOT NULL
        )`);
    },
  },
  {
    name: '2026-11-23-create-token-secrets',
    up: async (tx) => {
      await tx.query(`
        CREATE TABLE end_users_vault.token_secrets (
          token_id text COLLATE "C" PRIMARY KEY,
          token_hash bytea NOT NULL UNIQUE,
          account_id text NOT NULL,
          end_user_id text COLLATE "C" NOT NULL,
          agent_id text NOT NULL,
          scopes text[] NOT NULL,
          expires_at timestamptz NOT NULL
        )`);
      await tx.query('CREATE INDEX ON end_users_vault.token_secrets (end_user_id)');
    },
  },
  {
    name: '2026-11-23-count-requests',
    up: async (tx) => {
      // Not written to the WAL, so that counting costs no flush; after a crash the counts begin again.
      await tx.query(`
        CREATE UNLOGGED TABLE request_rate (
          end_user_id text COLLATE "C" PRIMARY KEY,
          began_at timestamptz NOT NULL,
          requests integer NOT NULL
        ) WITH (fillfactor = 50)`);
    },
  },
  {
    name: '2026-11-23-create-end-user-standing',
    up: async (tx) => {
      await tx.query(`
        CREATE TABLE end_user_standing (
          end_user_id text COLLATE "C" PRIMARY KEY,
          suspended boolean NOT NULL,
          revision bigint NOT NULL
        )`);
    },
  },
];
