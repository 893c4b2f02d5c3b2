import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { operationsRequests } from '@berth/contracts/operations';
import { startEmbedded, type EmbeddedInfrastructure } from '@berth/embedded';
import { NatsLink, Requester } from '@berth/messaging';
import { createLogger } from '@berth/telemetry';
import { eventually, freePort, provideCluster } from '@berth/testing';
import { Program, readKey, type Stack } from '../stack.fixture.js';
import type { WireName } from './plan.fixture.js';
import { Wire } from './wire.fixture.js';

const SHIPPED_TEMPLATES = fileURLToPath(new URL('../../../../../infra/templates', import.meta.url));

/** The services that take part in a submission. */
const SERVICES = ['accounts', 'agents', 'end-users', 'exec', 'llm'] as const;

/** Each as a separate process; `exec`, which submissions are about, as two. */
export const PROCESSES = [...SERVICES, 'exec-2', 'runtime', 'gateway'] as const;
export type ServiceName = (typeof PROCESSES)[number];

/** The connections of one service to the infrastructure. */
interface Lines {
  readonly nats: Wire;
  readonly log: Wire;
  readonly tables: Wire;
}

/** The time that they need to start on a busy machine. */
const READY_WITHIN_MS = 120_000;

/** Services whose connections to the broker, the event log and the database can all be disturbed. */
export interface FaultyStack extends Stack {
  /** The connections of that name, one for each instance; without those that belong to a lane. */
  wires(name: WireName): readonly Wire[];
  pidOf(service: ServiceName): number | undefined;
  /** Restarts a killed service. Resolves when everything responds. */
  startAgain(service: ServiceName): Promise<void>;
  /** The last part of the output of a service. */
  outputOf(service: ServiceName): string;
}

/** Starts them on embedded infrastructure of their own in the folder. */
export const startFaultyStack = async (dataDir: string): Promise<FaultyStack> => {
  await provideCluster(dataDir);
  const log = createLogger({ service: 'embedded', level: 'warn' });
  const infrastructure = await startEmbedded({ dataDir, log });
  const link = await NatsLink.open({ url: infrastructure.natsUrl, name: 'test', log });
  const lines = new Map<ServiceName, Lines>();
  for (const name of PROCESSES) lines.set(name, await openLines(infrastructure));
  const env = {
    BERTH_RUNTIME_DATA: join(dataDir, 'runtime'),
    BERTH_SECRET_KEY: `k1:${randomBytes(32).toString('base64')}`,
    BERTH_DATA: dataDir,
    BERTH_SHIPPED_TEMPLATES_DIR: SHIPPED_TEMPLATES,
    BERTH_WARM_SLEEP_SECONDS: '1',
    BERTH_LOG_LEVEL: 'warn',
    PORT: String(await freePort()),
  };
  const start = (name: ServiceName): Program =>
    Program.start(name.replace(/-2$/, ''), { ...env, ...addresses(infrastructure, lines.get(name)) });
  const programs = new Map(PROCESSES.map((name) => [name, start(name)]));
  const url = `http://127.0.0.1:${env.PORT}`;
  const stop = async (): Promise<void> => {
    await Promise.all([...programs.values()].map((program) => program.end('SIGTERM')));
    const wires = [...lines.values()].flatMap(({ nats, log, tables }) => [nats, log, tables]);
    await Promise.all(wires.map((wire) => wire.close()));
    await link.close();
    await infrastructure.stop();
  };
  try {
    await untilReady(url, new Requester(link));
  } catch (error) {
    await stop();
    throw error;
  }
  return {
    urls: [url],
    key: readKey(dataDir),
    dataDir,
    wires: (name) => wiresOf(lines, name),
    pidOf: (name) => programs.get(name)?.child.pid,
    startAgain: async (name) => {
      await programs.get(name)?.exited;
      programs.set(name, start(name));
      await untilReady(url, new Requester(link));
    },
    outputOf: (name) => programs.get(name)?.printed.slice(-4_000) ?? '',
    stop,
  };
};

/** Waits until the gateway and every service that takes part respond, and their dependencies too. */
const untilReady = async (url: string, requester: Requester): Promise<void> => {
  await eventually(
    async () => {
      for (const service of SERVICES) {
        const health = await requester.request(operationsRequests(service).health, {}, { deadlineMs: 1_000 });
        if (!health.eventStore || !health.postgres) throw new Error(`${service}: ${JSON.stringify(health)}`);
      }
      const response = await fetch(`${url}/health`);
      const { dependencies } = (await response.json()) as { dependencies: Readonly<Record<string, string>> };
      if (Object.values(dependencies).some((state) => state !== 'ok'))
        throw new Error(`The gateway: ${JSON.stringify(dependencies)}`);
    },
    { timeoutMs: READY_WITHIN_MS, intervalMs: 100 },
  );
};

const openLines = async (infrastructure: EmbeddedInfrastructure): Promise<Lines> => {
  const open = (url: string): Promise<Wire> => {
    const { hostname, port } = new URL(url);
    return Wire.open({ host: hostname, port: Number(port) });
  };
  return {
    nats: await open(infrastructure.natsUrl),
    log: await open(infrastructure.eventStoreUrl),
    tables: await open(infrastructure.databaseUrl),
  };
};

const addresses = (infrastructure: EmbeddedInfrastructure, lines: Lines | undefined) => {
  const through = (url: string, wire: Wire | undefined): string => {
    const changed = new URL(url);
    changed.hostname = '127.0.0.1';
    changed.port = String(wire?.port);
    return changed.toString();
  };
  return {
    NATS_URL: through(infrastructure.natsUrl, lines?.nats),
    EVENTSTORE_URL: through(infrastructure.eventStoreUrl, lines?.log),
    DATABASE_URL: through(infrastructure.databaseUrl, lines?.tables),
  };
};

const wiresOf = (lines: ReadonlyMap<ServiceName, Lines>, name: WireName): readonly Wire[] => {
  const [service = '', to] = name.split('-');
  if (to !== 'nats' && to !== 'log' && to !== 'tables') return [];
  return [...lines].flatMap(([one, own]) => (one.replace(/-2$/, '') === service ? [own[to]] : []));
};
