import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Env } from '@berth/config';
import { SERVICES } from '@berth/contracts/operations';
import { startEmbedded, type EmbeddedInfrastructure, type ServiceName } from '@berth/embedded';
import { newId } from '@berth/kernel';
import { createLogger } from '@berth/telemetry';
import { eventually, freePort, provideCluster } from '@berth/testing';
import { Program, readKey, TEST_TEMPLATES, type Stack } from './stack.fixture.js';

export const SHIPPED_TEMPLATES = fileURLToPath(new URL('../../../../infra/templates', import.meta.url));

/** Services behind the gateway that run in two processes. */
const TWICE = ['agents', 'exec', 'schedules'];
const PRINTED_CHARACTERS = 2_000;

/** Every service as a separate process, with two each of the gateway and those of `TWICE`, on one infrastructure. */
export interface SeparateStack extends Stack {
  readonly infrastructure: EmbeddedInfrastructure;
  /** By name; the second ones are `gateway-2`, `agents-2`, `exec-2`, `schedules-2`. */
  readonly programs: ReadonlyMap<string, Program>;
  /** Kills it with kill -9 and starts a new process in its place. */
  replace(name: string): Promise<void>;
}

export const startSeparateStack = async (
  dataDir: string,
  more: Env = {},
  /** Default: the embedded broker. */
  natsUrl?: string,
): Promise<SeparateStack> => {
  const host = newId('hst');
  await provideCluster(dataDir);
  const infrastructure = await startEmbedded({
    dataDir,
    hosts: [host],
    natsUrl,
    log: createLogger({ service: 'embedded', level: 'warn' }),
  });
  const ports = [await freePort(), await freePort()] as const;
  const env = { ...serviceEnv(dataDir, infrastructure), ...more };
  const own: Record<string, Env> = {
    ...Object.fromEntries([...SERVICES, ...TWICE.map((name) => `${name}-2`)].map((name) => [name, {}])),
    runtime: { BERTH_HOST_ID: host, BERTH_GATEWAY_URL: `http://127.0.0.1:${String(ports[0])}` },
    gateway: { PORT: String(ports[0]) },
    'gateway-2': { PORT: String(ports[1]) },
  };
  const begin = (name: string): Program => {
    const app = name.replace(/-2$/, '') as ServiceName;
    return Program.start(app, { ...env, NATS_URL: infrastructure.natsUrlOf(app), ...own[name] });
  };
  const programs = new Map(Object.keys(own).map((name) => [name, begin(name)]));
  const urls = ports.map((port) => `http://127.0.0.1:${String(port)}`);
  try {
    await Promise.all(urls.map((url) => healthy(url, programs)));
  } catch (error) {
    await Promise.all([...programs.values()].map((program) => program.end('SIGKILL')));
    await infrastructure.stop();
    throw error;
  }
  return {
    urls,
    key: readKey(dataDir),
    dataDir,
    infrastructure,
    programs,
    replace: async (name) => {
      await programs.get(name)?.end('SIGKILL');
      programs.set(name, begin(name));
    },
    stop: () => endInOrder(programs).finally(() => infrastructure.stop()),
  };
};

/** The health of an installation, and the last output of each program: to be printed when a test fails. */
export const describeState = async ({
  urls,
  programs,
}: Pick<SeparateStack, 'urls' | 'programs'>): Promise<string> => {
  const health = await fetch(`${urls[0] ?? ''}/health`).then((response) => response.text(), String);
  return [`health: ${health}`, ...[...programs].map(lastOutputOf)].join('\n');
};

const serviceEnv = (dataDir: string, { eventStoreUrl, databaseUrl }: EmbeddedInfrastructure): Env => ({
  EVENTSTORE_URL: eventStoreUrl,
  DATABASE_URL: databaseUrl,
  BERTH_RUNTIME_DATA: join(dataDir, 'runtime'),
  BERTH_SECRET_KEY: `k1:${randomBytes(32).toString('base64')}`,
  BERTH_DATA: dataDir,
  BERTH_SHIPPED_TEMPLATES_DIR: SHIPPED_TEMPLATES,
  BERTH_TEMPLATES_DIR: TEST_TEMPLATES,
  BERTH_WARM_SLEEP_SECONDS: '3',
  BERTH_LOG_LEVEL: 'warn',
});

/** Waits until the gateway and everything behind it responds. */
export const healthy = async (
  url: string,
  programs: ReadonlyMap<string, Program>,
  timeoutMs = 120_000,
): Promise<void> => {
  await eventually(
    async () => {
      if (endedOf(programs).length > 0) return;
      const response = await fetch(`${url}/health`);
      const body = (await response.json()) as { status: string };
      if (body.status !== 'ok') throw new Error(`Health: ${JSON.stringify(body)}.`);
    },
    { timeoutMs, intervalMs: 100 },
  );
  expectNone('has ended', endedOf(programs));
};

/** Ends the programs by SIGTERM. Throws an error if one had ended before, or does not end as it should. */
export const endInOrder = async (programs: ReadonlyMap<string, Program>): Promise<void> => {
  const ended = endedOf(programs);
  await Promise.all([...programs.values()].map((program) => program.end('SIGTERM')));
  expectNone('had ended before it was to end', ended);
  expectNone(
    'did not end with 0',
    [...programs].filter(([, { child }]) => child.exitCode !== 0),
  );
};

type NamedProgram = readonly [name: string, program: Program];

const endedOf = (programs: ReadonlyMap<string, Program>): readonly NamedProgram[] =>
  [...programs].filter(([, { hasEnded }]) => hasEnded);

/** The other instance of a dead one serves every request, so that no other test notices. */
const expectNone = (what: string, programs: readonly NamedProgram[]): void => {
  if (programs.length > 0) throw new Error(programs.map((one) => `${what}: ${lastOutputOf(one)}`).join('\n'));
};

const lastOutputOf = ([name, { child, printed }]: NamedProgram): string =>
  `${name} (pid ${String(child.pid)}, exit ${String(child.exitCode ?? child.signalCode)}): ${printed.slice(-PRINTED_CHARACTERS)}`;
