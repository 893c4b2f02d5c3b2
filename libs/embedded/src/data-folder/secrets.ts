import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { readJsonObject, writePrivateFile } from './private-file.js';

/** Passwords of the embedded parts: drawn once per data folder, kept in a file of mode 0600. */
export interface PartSecrets {
  /** Of the broker's user who may do everything. */
  readonly natsPassword: string;
  /** Of each service's user on the broker. */
  readonly natsServicePasswords: Readonly<Record<string, string>>;
  readonly postgresPassword: string;
}

/** Reads the passwords of a data folder, drawing those that are missing (192 random bits each, safe in a URL). */
export function readOrDrawSecrets(folder: string, services: readonly string[]): PartSecrets {
  const file = join(folder, 'secrets.json');
  const kept = readJsonObject(file) ?? {};
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
  // Hex, because a NATS configuration reads a bare word of digits with a unit letter as a number.
  return typeof value === 'string' && value.length >= 32 ? value : `p${randomBytes(24).toString('hex')}`;
}
