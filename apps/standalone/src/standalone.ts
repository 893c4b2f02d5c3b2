import { createRequire } from 'node:module';
import { dirname, join, resolve } from 'node:path';
import { readEnv, type Env } from '@berth/config';
import {
  acquireDataLock,
  dataCaFile,
  startEmbedded,
  type EmbeddedInfrastructure,
  type ServiceName,
} from '@berth/embedded';
import { checkHost, hostId, readRuntimeConfig } from '@berth/runtime';
import { reachParts, type Stoppable } from '@berth/service';
import { assertPortFree } from '@berth/host-requirements';
import type { Logger } from '@berth/telemetry';
import type { StandaloneConfig } from './config.js';
import { serveHostAccess } from './host-access.socket.js';
import { ReservedPort } from './reserved-port.js';
import { readOrCreateSecretKey } from './secret-key.js';
import { checkServiceConfigs, startServices } from './services.js';

/** Node finds this package also from a bundle, which lies elsewhere. */
const PACKAGE = dirname(createRequire(import.meta.url).resolve('@berth/standalone/package.json'));
const SHIPPED_TEMPLATES = join(PACKAGE, '../../infra/templates');

/** The path of the bootstrap key in a data folder. */
export const bootstrapKeyFile = (dataDir: string): string => join(dataDir, 'bootstrap-key');

export interface RunningStandalone extends Stoppable {
  /** `http://localhost:<port>` */
  readonly url: string;
}

/**
 * Starts the whole product in one process: embedded infrastructure, then every service on it. Waits for parts that are
 * given by URL. Throws the reason of `signal` if it aborts before the services are ready, and stops everything that was
 * started.
 */
export const startStandalone = async (
  { port, ...settings }: StandaloneConfig,
  env: Env,
  logOf: (service: string) => Logger,
  signal: AbortSignal,
): Promise<RunningStandalone> => {
  const lock = acquireDataLock(settings.dataDir);
  let infrastructure: EmbeddedInfrastructure | undefined;
  let reserved: ReservedPort | undefined;
  try {
    if (port === 0) reserved = await ReservedPort.open();
    else await assertPortFree(port, '127.0.0.1');
    const config = { ...settings, port: reserved?.port ?? port };
    // Reports an operator's mistake and what this host lacks before anything starts.
    const placeholders = serviceEnv(config, env, NOT_STARTED_YET);
    checkServiceConfigs(placeholders);
    await checkHost(readRuntimeConfig(placeholders));
    infrastructure = await startEmbedded({
      ...config,
      instance: readEnv(env).string('BERTH_INSTANCE', 'berth'),
      hosts: [await hostId(runtimeDataOf(config, env), env['BERTH_HOST_ID'])],
      brokerHost: config.brokerHost,
      log: logOf('embedded'),
    });
    await reachParts(config, { log: logOf('standalone'), signal });
    signal.throwIfAborted();
    const { natsUrlOf } = infrastructure;
    const common = serviceEnv(config, env, infrastructure);
    const envOf = (service: ServiceName): Env => ({ ...common, NATS_URL: natsUrlOf(service) });
    const services = await startServices(envOf, logOf, signal, () => reserved?.release());
    const { hostAccess } = infrastructure;
    const socket = hostAccess && (await serveHostAccess(config.dataDir, hostAccess, logOf('standalone')));
    const stop = async (): Promise<void> => {
      await socket?.close();
      await stopAll(services, infrastructure, lock);
    };
    return { name: 'standalone', url: services.url, stop };
  } catch (error) {
    await reserved?.release();
    await infrastructure?.stop();
    lock.release();
    throw error;
  }
};

/** Placeholders for the URLs of the parts. */
const NOT_STARTED_YET = {
  natsUrl: 'nats://embedded',
  eventStoreUrl: 'esdb://embedded?tls=false',
  databaseUrl: 'postgres://embedded',
};

/** The embedded broker has users with passwords, so these must not apply. */
const NO_CREDENTIALS: Env = { NATS_CREDS: '', NATS_NKEY: '', NATS_CA: '', NATS_CERT: '', NATS_KEY: '' };

const runtimeDataOf = (config: StandaloneConfig, env: Env): string =>
  resolve(env['BERTH_RUNTIME_DATA'] ?? join(config.dataDir, 'runtime'));

/** The environment of the services: the operator's variables, and ours for those that are not set. */
const serviceEnv = (
  config: StandaloneConfig,
  env: Env,
  { natsUrl, eventStoreUrl, databaseUrl }: Pick<EmbeddedInfrastructure, keyof typeof NOT_STARTED_YET>,
): Env => ({
  BERTH_SHIPPED_TEMPLATES_DIR: SHIPPED_TEMPLATES,
  BERTH_BOOTSTRAP_KEY_FILE: bootstrapKeyFile(config.dataDir),
  BERTH_GATEWAY_URL: `http://127.0.0.1:${String(config.port)}`,
  BERTH_DATA_CA: dataCaFile(config.dataDir),
  ...env,
  ...(config.natsUrl === undefined ? NO_CREDENTIALS : {}),
  BERTH_SECRET_KEY: env['BERTH_SECRET_KEY'] ?? readOrCreateSecretKey(config.dataDir),
  BERTH_DATA: config.dataDir,
  BERTH_RUNTIME_DATA: runtimeDataOf(config, env),
  PORT: String(config.port),
  NATS_URL: natsUrl,
  EVENTSTORE_URL: eventStoreUrl,
  DATABASE_URL: databaseUrl,
});

const stopAll = async (
  services: Stoppable,
  infrastructure: EmbeddedInfrastructure | undefined,
  lock: { release(): void },
): Promise<void> => {
  await services.stop();
  await infrastructure?.stop();
  lock.release();
};
