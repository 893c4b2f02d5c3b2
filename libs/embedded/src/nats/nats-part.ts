import { randomUUID } from 'node:crypto';
import { mkdirSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import {
  DATA_CA_FILE,
  DataAuthority,
  HostUsers,
  permissionsOf,
  readGreeting,
  SERVICE_ACCESS,
  type BrokerAddress,
  type BrokerUser,
} from '@berth/broker-users';
import { diskSpace, LOOPBACK, writePrivateFile } from '@berth/host-requirements';
import type { PartContext, PartPlan } from '../part.js';
import { childEnvironment } from '../supervision/child-environment.js';
import { ensureNatsServer } from './nats-binary.js';
import { untilJetStreamIsStuck } from './jetstream-watch.js';
import { natsConfig } from './nats-config.js';

const WILDCARDS: ReadonlySet<string> = new Set(['0.0.0.0', '::']);

/** JetStream's share of its disk. */
const STORE_SHARE = 0.75;

/** A user with all permissions, for the operator and for tests. No service uses it. */
const OPERATOR = 'operator';

const USERS_FOLDER = 'embedded';

/** The file with the authority of the hosts that joined the embedded broker, once there is one. */
export const dataCaFile = (dataDir: string): string => join(dataDir, USERS_FOLDER, DATA_CA_FILE);

/** The broker, whose users can change while it runs. */
export interface NatsPlan extends PartPlan {
  /** Where clients reach the broker. */
  readonly addressOf: (port: number) => BrokerAddress;
  /** Writes the configuration again, with the present users of hosts. */
  readonly writeConfig: () => void;
  readonly hostUsers: HostUsers;
  readonly dataAuthority: DataAuthority;
}

/** Plans the broker: a nats-server with JetStream, its store under `<dataDir>/nats`. */
export async function planNats(context: PartContext): Promise<NatsPlan> {
  const binary = await ensureNatsServer(context.log);
  const folder = join(context.dataDir, 'nats');
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const configFile = join(folder, 'nats.conf');
  const keptIn = join(context.dataDir, USERS_FOLDER);
  const hostUsers = new HostUsers(keptIn, context.broker.instance);
  const { listenOn } = context.broker;
  const reachedAt = WILDCARDS.has(listenOn) ? LOOPBACK : listenOn;
  const urlOf = (port: number, user: string, password: string): string =>
    `nats://${user}:${password}@${reachedAt}:${port}`;
  const { natsPassword, natsServicePasswords } = context.secrets;
  let server = { port: 0, serverName: '' };
  const writeConfig = (): void =>
    writePrivateFile(
      configFile,
      natsConfig({
        ...server,
        host: listenOn,
        storeDir: folder,
        storeBytes: Math.floor(diskSpace(folder).totalBytes * STORE_SHARE),
        users: [...usersOf(context), ...hostUsers.asBrokerUsers],
        version: binary.version,
      }),
    );
  return {
    name: 'nats',
    hostUsers,
    dataAuthority: new DataAuthority(keptIn),
    writeConfig,
    addressOf: (port) => ({ host: WILDCARDS.has(listenOn) ? hostname() : listenOn, port }),
    url: (port) => urlOf(port, OPERATOR, natsPassword),
    serviceUrl: (port, service) => urlOf(port, service, natsServicePasswords[service] ?? ''),
    ending: [{ signal: 'SIGTERM', waitMs: 4000 }],
    spec: (port) => {
      // A reload of the configuration must not change the name.
      server = { port, serverName: `berth-${randomUUID()}` };
      writeConfig();
      return {
        command: binary.path,
        args: ['-c', configFile],
        cwd: folder,
        env: childEnvironment(),
        ready: (_child, signal) => untilGreeted({ host: reachedAt, port }, server.serverName, signal),
        stuck: (signal) =>
          untilJetStreamIsStuck(
            { host: reachedAt, port, user: OPERATOR, pass: natsPassword, storeDir: folder },
            signal,
          ),
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
async function untilGreeted(address: BrokerAddress, serverName: string, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    const greeting = await readGreeting(address, signal);
    if (greeting?.['server_name'] === serverName && greeting['jetstream'] === true) return;
    await delay(15, undefined, { signal });
  }
}
