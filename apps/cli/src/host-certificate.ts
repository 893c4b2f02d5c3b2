import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { AddedHost } from '@berth/contracts/operations';
import { CliError, EXIT } from './cli-error.js';

const OWNER_ONLY = 0o600;

/**
 * Adds a host and writes the certificate of its data port, its key and the certificate of the authority to a new folder.
 * Leaves no folder behind if it fails, and no host, or an error that names it.
 */
export const addWithCertificate = async <Host extends AddedHost>(
  folder: string,
  add: () => Promise<Host>,
  revoke: (id: string) => Promise<boolean>,
): Promise<Host> => {
  await makeFolder(folder);
  try {
    const added = await add();
    await writeFiles(folder, added.data).catch(async (error: unknown) => {
      const isRevoked = await revoke(added.id).catch(() => false);
      const what = isRevoked
        ? 'The host was not added'
        : `The host was added without a certificate; remove it with \`berth hosts remove ${added.id}\``;
      throw new CliError(EXIT.refused, `${what}: ${messageOf(error)}`, { cause: error });
    });
    return added;
  } catch (error) {
    await rm(folder, { recursive: true, force: true });
    throw error;
  }
};

/** An existing one may have the certificate of another host. */
const makeFolder = async (folder: string): Promise<void> => {
  try {
    await mkdir(folder, { mode: 0o700 });
  } catch (error) {
    throw new CliError(EXIT.usage, `The folder for --tls must be a new one: ${messageOf(error)}`, {
      cause: error,
    });
  }
};

const writeFiles = async (folder: string, data: AddedHost['data']): Promise<void> => {
  if (data === undefined)
    throw new Error('The running Berth is of an earlier version, which issues no certificates. Restart it.');
  const files = { 'cert.pem': data.certificate, 'key.pem': data.key, 'ca.pem': data.authority };
  for (const [file, text] of Object.entries(files))
    await writeFile(join(folder, file), text, { mode: OWNER_ONLY, flag: 'wx' });
};

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
