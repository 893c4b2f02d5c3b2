import type { Migration } from '@berth/persistence';

/**
 * The vault of stored responses, and the installation to which they belong: in the backup, never rebuilt. Responses are
 * sealed, because they can contain secrets.
 */
export const migrations: readonly Migration[] = [
  {
    name: '2026-11-21-create-idempotent-answers',
    up: async (tx) => {
      await tx.query(`
        CREATE TABLE gateway_vault.idempotent_answers (
          caller text NOT NULL,
          route text NOT NULL,
          idempotency_key text NOT NULL,
          body_digest text NOT NULL,
          command_id text NOT NULL,
          claim_id uuid,
          leased_until timestamptz,
          status smallint,
          sealed_answer text,
          expires_at timestamptz NOT NULL,
          PRIMARY KEY (caller, route, idempotency_key)
        )`);
      await tx.query(
        'CREATE INDEX idempotent_answers_by_expiry ON gateway_vault.idempotent_answers (expires_at)',
      );
    },
  },
  {
    name: '2026-11-22-create-installation',
    up: async (tx) => {
      await tx.query(`
        CREATE TABLE gateway_vault.installation (
          only_row boolean PRIMARY KEY DEFAULT true CHECK (only_row),
          log_id text NOT NULL
        )`);
    },
  },
  {
    name: '2026-11-23-let-answers-end',
    up: async (tx) => {
      await tx.query('ALTER TABLE gateway_vault.idempotent_answers ADD COLUMN answer_ends_at timestamptz');
    },
  },
];

/** Schema of the gateway's vault. */
export const VAULT_SCHEMA = 'gateway_vault';
