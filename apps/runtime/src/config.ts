import { createRequire } from 'node:module';
import { BrokerEnv, LOG_LEVELS, readEnv, UnsuitableHostError, type Env, type LogLevel } from '@berth/config';
import { isId } from '@berth/kernel';
import { readOperatorSettings, type OperatorSettings } from '@berth/operator-file';
import type { RestartPolicy } from '@berth/guest-protocol';
import type { ServerCertificate } from '@berth/sockets';
import type { ConfiguredDriver } from './driver/driver-definition.js';
import { chooseDriver } from './driver/driver-registry.js';
import { readDataPortTls } from './transfer/data-port-tls.js';

export abstract class RuntimeConfig extends BrokerEnv {
  abstract readonly logLevel: LogLevel;
  abstract readonly otlpEndpoint: string | undefined;
  abstract readonly metricsPort: number | undefined;
  /** The id of this host, if the operator has set it. */
  abstract readonly hostId: string | undefined;
  /** The name that operators see; undefined: that of the machine. */
  abstract readonly hostName: string | undefined;
  /** Folder of the agents' volumes, logs and records. */
  abstract readonly dataDir: string;
  /** The driver that BERTH_RUNTIME names. */
  abstract readonly driver: ConfiguredDriver;
  /** Template folders; the shipped one first. */
  abstract readonly templateFolders: readonly string[];
  /** The guest's main file. */
  abstract readonly guestMain: string;
  /** URL of Berth's API for agents, as seen from this host. */
  abstract readonly gatewayUrl: string | null;
  /** How many times the disk may be promised to agents, where volumes have a size. */
  abstract readonly diskOvercommit: number;
  abstract readonly restart: RestartPolicy;
  abstract readonly operator: OperatorSettings;
  abstract readonly builds: {
    readonly timeoutSeconds: number;
    /** Certificates that git trusts instead of the system's. */
    readonly caFile: string | undefined;
    /** Where git and its helpers are found. */
    readonly path: string;
  };
  /** Endpoint for transfers between gateways and this host. Port 0 picks a free port; `url` is its public address. */
  abstract readonly dataPort: {
    readonly host: string;
    readonly port: number;
    readonly url: string | undefined;
    /** With these it is served over TLS. */
    readonly tls: ServerCertificate | undefined;
  };
}

/**
 * Reads NATS_URL, BERTH_INSTANCE (berth), BERTH_HOST_ID, BERTH_HOST_NAME (the machine's name), BERTH_LOG_LEVEL, OTEL_EXPORTER_OTLP_ENDPOINT,
 * BERTH_METRICS_PORT, BERTH_RUNTIME (process) and the variables of the driver that it names, BERTH_RUNTIME_DATA
 * (.data/runtime), BERTH_SHIPPED_TEMPLATES_DIR, BERTH_TEMPLATES_DIR, BERTH_GUEST_MAIN, BERTH_GATEWAY_URL,
 * BERTH_CONFIG (berth.yaml in BERTH_DATA), BERTH_BUILD_SECONDS (900), BERTH_DISK_OVERCOMMIT (20), GIT_SSL_CAINFO, PATH, BERTH_CRASH_LIMIT (5), BERTH_CRASH_WINDOW_SECONDS (60), BERTH_START_ATTEMPTS (3), BERTH_DATA_HOST (127.0.0.1),
 * BERTH_DATA_PORT (0), BERTH_DATA_URL, BERTH_DATA_CERT, BERTH_DATA_KEY. Throws `ConfigError` naming every invalid variable.
 */
export const readRuntimeConfig = (env: Env): RuntimeConfig => {
  const reader = readEnv(env);
  const shipped = reader.path('BERTH_SHIPPED_TEMPLATES_DIR', 'infra/templates');
  const own = reader.optional('BERTH_TEMPLATES_DIR');
  const hostId = reader.optional('BERTH_HOST_ID');
  if (hostId !== undefined && !isId('hst', hostId))
    reader.problem('BERTH_HOST_ID', 'must be hst_ followed by 26 characters, as a runtime generates it');
  const operator = readOperatorSettings(reader);
  const tls = readDataPortTls(reader);
  return reader.done({
    ...reader.brokerEnv(),
    hostId,
    hostName: reader.optional('BERTH_HOST_NAME'),
    logLevel: reader.oneOf('BERTH_LOG_LEVEL', LOG_LEVELS, 'info'),
    otlpEndpoint: reader.optionalUrl('OTEL_EXPORTER_OTLP_ENDPOINT', ['http', 'https']),
    metricsPort: reader.optionalInteger('BERTH_METRICS_PORT', { min: 1, max: 65_535 }),
    dataDir: reader.path('BERTH_RUNTIME_DATA', '.data/runtime'),
    driver: chooseDriver(reader, operator),
    templateFolders: own === undefined ? [shipped] : [shipped, own],
    guestMain: reader.path('BERTH_GUEST_MAIN', guestProgram()),
    gatewayUrl: reader.optionalUrl('BERTH_GATEWAY_URL', ['http', 'https']) ?? null,
    diskOvercommit: reader.integer('BERTH_DISK_OVERCOMMIT', { default: 20, min: 1, max: 1_000 }),
    restart: {
      maxDeaths: reader.integer('BERTH_CRASH_LIMIT', { default: 5, min: 1, max: 1_000 }),
      windowMs: reader.integer('BERTH_CRASH_WINDOW_SECONDS', { default: 60, min: 1, max: 86_400 }) * 1000,
      maxEarlyDeaths: reader.integer('BERTH_START_ATTEMPTS', { default: 3, min: 1, max: 100 }),
    },
    operator,
    builds: {
      timeoutSeconds: reader.integer('BERTH_BUILD_SECONDS', { default: 900, min: 1, max: 900 }),
      caFile: reader.optional('GIT_SSL_CAINFO'),
      path: reader.string('PATH', '/usr/local/bin:/usr/bin:/bin'),
    },
    dataPort: {
      host: reader.string('BERTH_DATA_HOST', '127.0.0.1'),
      port: reader.integer('BERTH_DATA_PORT', { default: 0, min: 0, max: 65_535 }),
      url: reader.optionalUrl('BERTH_DATA_URL', tls === undefined ? ['http', 'https'] : ['https']),
      tls,
    },
  });
};

/** Apps do not import each other: the runtime spawns the guest as a program, bundled if the runtime is. */
const guestProgram = (): string => createRequire(import.meta.url).resolve('@berth/guest/main');

/** Throws `UnsuitableHostError` with everything that the chosen driver lacks on this host; changes nothing. */
export const checkHost = async ({ driver }: Pick<RuntimeConfig, 'driver'>): Promise<void> => {
  const problems = await driver.check();
  if (problems.length > 0) throw new UnsuitableHostError(problems);
};
