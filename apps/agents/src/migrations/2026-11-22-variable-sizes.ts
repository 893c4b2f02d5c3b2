import type { Migration } from '@berth/persistence';

/** The nonce and the tag of AES-GCM. */
const SEAL_BYTES = 12 + 16;

/**
 * The size of a variable (name and value) next to its sealed value, so that an agent's total is known without decryption.
 * The size of existing variables follows from their sealed text, `<key id>.<base64url>` without padding.
 */
export const measureVariables: Migration = {
  name: '2026-11-22-variable-sizes',
  async up(tx) {
    await tx.query('ALTER TABLE env_vault ADD COLUMN bytes integer');
    await tx.query(
      `UPDATE env_vault SET bytes =
         octet_length(key) + length(split_part(sealed, '.', 2)) * 3 / 4 - ${String(SEAL_BYTES)}`,
    );
    await tx.query('ALTER TABLE env_vault ALTER COLUMN bytes SET NOT NULL');
  },
};
