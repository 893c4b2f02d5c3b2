import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ServiceName } from '@berth/embedded';

/** The embedded parts of a running installation, with the credentials of its data folder. */
export interface PartUrls {
  readonly databaseUrl: string;
  readonly eventStoreUrl: string;
  natsUrlOf(service: ServiceName): string;
}

interface Secrets {
  readonly natsServicePasswords: Readonly<Record<string, string>>;
  readonly postgresPassword: string;
}

export const urlsOfParts = (dataDir: string): PartUrls => {
  const read = <T>(name: string): T => JSON.parse(readFileSync(join(dataDir, 'embedded', name), 'utf8')) as T;
  const ports = read<Readonly<Record<'nats' | 'event-store' | 'postgres', number>>>('ports.json');
  const secrets = read<Secrets>('secrets.json');
  return {
    databaseUrl: `postgresql://berth:${secrets.postgresPassword}@127.0.0.1:${String(ports.postgres)}/berth`,
    eventStoreUrl: `esdb://127.0.0.1:${String(ports['event-store'])}?tls=false`,
    natsUrlOf: (service) =>
      `nats://${service}:${secrets.natsServicePasswords[service] ?? ''}@127.0.0.1:${String(ports.nats)}`,
  };
};
