import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { mkdirSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { writePrivateFile } from '../data-folder/private-file.js';
import { LOOPBACK } from '@berth/host-requirements';
import type { PartContext, PartPlan } from '../part.js';
import { childEnvironment } from '../supervision/child-environment.js';
import { permissionsOf, type BrokerUser } from './broker-permissions.js';
import { ensureNatsServer } from './nats-binary.js';
import { natsConfig } from './nats-config.js';
import { SERVICE_ACCESS } from './service-access.js';

/** A user with all permissions, for the operator and for tests. No service uses it. */
const OPERATOR = 'operator';

/** Plans the broker: a nats-server with JetStream, its store under `<dataDir>/nats`. */
export async function planNats(context: PartContext): Promise<PartPlan> {
  const binary = await ensureNatsServer(context.log);
  const folder = join(context.dataDir, 'nats');
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const configFile = join(folder, 'nats.conf');
  const users = usersOf(context);
  const urlOf = (port: number, user: string, password: string): string =>
    `nats://${user}:${password}@${LOOPBACK}:${port}`;
  const { natsPassword, natsServicePasswords } = context.secrets;
  return {
    name: 'nats',
    url: (port) => urlOf(port, OPERATOR, natsPassword),
    serviceUrl: (port, service) => urlOf(port, service, natsServicePasswords[service] ?? ''),
    ending: [{ signal: 'SIGTERM', waitMs: 4000 }],
    spec: (port) => {
      const serverName = `berth-${randomUUID()}`;
      writePrivateFile(
        configFile,
        natsConfig({ port, storeDir: folder, serverName, users, version: binary.version }),
      );
      return {
        command: binary.path,
        args: ['-c', configFile],
        cwd: folder,
        env: childEnvironment(),
        ready: (_child, signal) => untilGreeted(port, serverName, signal),
      };
    },
  };
}

function usersOf({ secrets, broker }: PartContext): readonly BrokerUser[] {
  const services = Object.entries(SERVICE_ACCESS).map(([user, access]) => ({
    user,
    password: secrets.natsServicePasswords[user] ?? '',
    permissions: permissionsOf(user, access, broker),
  }));
  return [{ user: OPERATOR, password: secrets.natsPassword }, ...services];
}

/** Waits for the greeting of exactly that server: another program on the port must not be mistaken for it. */
async function untilGreeted(port: number, serverName: string, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    const greeting = await readGreeting(port, signal);
    if (greeting?.['server_name'] === serverName && greeting['jetstream'] === true) return;
    await delay(15, undefined, { signal });
  }
}

async function readGreeting(port: number, signal: AbortSignal): Promise<Record<string, unknown> | undefined> {
  const socket = connect({ host: LOOPBACK, port, signal });
  socket.setTimeout(1000, () => socket.destroy());
  try {
    const [first]: unknown[] = await once(socket, 'data');
    const [line = ''] = String(first).split('\r\n');
    return line.startsWith('INFO ') ? (JSON.parse(line.slice(5)) as Record<string, unknown>) : undefined;
  } catch {
    return undefined;
  } finally {
    socket.destroy();
  }
}
