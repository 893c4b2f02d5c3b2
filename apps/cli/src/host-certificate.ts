import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { AddedHost } from '@berth/contracts/operations';
import { CliError, EXIT } from './cli-error.js';
import type { Terminal } from './terminal.js';

const OWNER_ONLY = 0o600;

/** Makes the folder before the host is added, because its key is shown once. An existing one may have another host's. */
export const makeFolder = async (folder: string): Promise<void> => {
  try {
    await mkdir(folder, { mode: 0o700 });
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new CliError(EXIT.usage, `The folder for --tls must be a new one: ${why}`, { cause: error });
  }
};

/** Writes the certificate of the host's data port, its key and the certificate of the authority. */
export const writeCertificate = async (
  folder: string,
  { name, data }: AddedHost,
  terminal: Terminal,
): Promise<void> => {
  const files = { 'cert.pem': data.certificate, 'key.pem': data.key, 'ca.pem': data.authority };
  for (const [file, text] of Object.entries(files))
    await writeFile(join(folder, file), text, { mode: OWNER_ONLY, flag: 'wx' });
  terminal.err.write(
    `Copy cert.pem and key.pem from ${folder} to ${name}, and name them in BERTH_DATA_CERT and BERTH_DATA_KEY there. ` +
      'Gateways verify them with ca.pem: name it in BERTH_DATA_CA, unless Berth runs here by `npm start`.\n',
  );
};
