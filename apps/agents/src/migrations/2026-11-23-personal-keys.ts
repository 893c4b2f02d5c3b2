import { createPersonalKeyVault } from '@berth/personal-data';
import type { Migration } from '@berth/persistence';

/** Copies of the keys of end users who own agents. It belongs in every backup. */
export const createPersonalKeys: Migration = {
  name: '2026-11-23-personal-keys',
  up: (tx) => createPersonalKeyVault(tx, 'personal_key_vault'),
};
