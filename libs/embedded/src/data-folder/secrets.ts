import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { readKeptObject, writePrivateFile } from '@berth/host-requirements';

/** Passwords of the embedded parts: generated once per data folder and kept in a file of mode 0600. */
export interface PartSecrets {
  /** The password of the broker's user with all permissions. */
  readonly natsPassword: string;
  /** The passwords of the services' broker users. */
  readonly natsServicePasswords: Readonly<Record<string, string>>;
  readonly postgresPassword: string;
}

/**
 * Reads the passwords of a data folder and generates the missing ones (192 random bits each, URL-safe). Throws
 * `DataFolderUnusableError` if the stored ones cannot be read: the existing database would reject new ones.
 */
export function readOrGenerateSecrets(folder: string, services: readonly string[]): PartSecrets {
  const file = join(folder, 'secrets.json');
  const kept = readKeptObject(file) ?? {};
  const servicePasswords: Record<string, unknown> = { ...asObject(kept['natsServicePasswords']) };
  const secrets: PartSecrets = {
    natsPassword: keptOrNew(kept['natsPassword']),
    natsServicePasswords: Object.fromEntries(
      services.map((service) => [service, keptOrNew(servicePasswords[service])]),
    ),
    postgresPassword: keptOrNew(kept['postgresPassword']),
  };
  if (JSON.stringify(secrets) !== JSON.stringify(kept)) writePrivateFile(file, JSON.stringify(secrets));
  return secrets;
}

function asObject(value: unknown): object {
  return typeof value === 'object' && value !== null ? value : {};
}

function keptOrNew(value: unknown): string {
  // A prefix and hex digits, because a NATS configuration parses a bare word of digits with a unit letter as a number.
  return typeof value === 'string' && value.length >= 32 ? value : `p${randomBytes(24).toString('hex')}`;
}
