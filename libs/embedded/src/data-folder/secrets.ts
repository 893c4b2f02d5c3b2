import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { readJsonObject, writePrivateFile } from './private-file.js';

/** Passwords of the embedded parts: drawn once per data folder, kept in a file of mode 0600. */
export interface PartSecrets {
  readonly natsPassword: string;
  readonly postgresPassword: string;
}

/** Reads the passwords of a data folder, drawing those that are missing (192 random bits each, safe in a URL). */
export function readOrDrawSecrets(folder: string): PartSecrets {
  const file = join(folder, 'secrets.json');
  const kept = readJsonObject(file) ?? {};
  const secrets: PartSecrets = {
    natsPassword: keptOrNew(kept['natsPassword']),
    postgresPassword: keptOrNew(kept['postgresPassword']),
  };
  if (
    secrets.natsPassword !== kept['natsPassword'] ||
    secrets.postgresPassword !== kept['postgresPassword']
  ) {
    writePrivateFile(file, JSON.stringify(secrets));
  }
  return secrets;
}

function keptOrNew(value: unknown): string {
  // Hex, because a NATS configuration reads a bare word of digits with a unit letter as a number.
  return typeof value === 'string' && value.length >= 32 ? value : `p${randomBytes(24).toString('hex')}`;
}
