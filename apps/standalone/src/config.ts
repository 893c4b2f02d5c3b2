import { readEnv, LOG_LEVELS, type BrokerCredentials, type Env, type LogLevel } from '@berth/config';

export interface StandaloneConfig {
  readonly dataDir: string;
  readonly port: number;
  readonly logLevel: LogLevel;
  /** External parts; undefined means embedded. */
  readonly natsUrl: string | undefined;
  /** The address that the embedded broker listens on. */
  readonly brokerHost: string;
  readonly natsCredentials: BrokerCredentials;
  readonly eventStoreUrl: string | undefined;
  readonly databaseUrl: string | undefined;
  readonly otlpEndpoint: string | undefined;
  readonly metricsPort: number | undefined;
  /** Whether to end when the parent process is gone, however it ended. */
  readonly watchParent: boolean;
}

/**
 * Reads PORT (8080), BERTH_DATA (./.data), BERTH_LOG_LEVEL (warn), BERTH_NATS_HOST (127.0.0.1), NATS_URL, EVENTSTORE_URL, DATABASE_URL (unset means
 * embedded), OTEL_EXPORTER_OTLP_ENDPOINT and BERTH_METRICS_PORT. Throws `ConfigError` naming every invalid variable.
 */
export const readStandaloneConfig = (env: Env): StandaloneConfig => {
  const reader = readEnv(env);
  const natsUrl = reader.optionalPartUrl('NATS_URL');
  return reader.done({
    dataDir: reader.path('BERTH_DATA', '.data'),
    port: reader.integer('PORT', { default: 8080, max: 65_535 }),
    logLevel: reader.oneOf('BERTH_LOG_LEVEL', LOG_LEVELS, 'warn'),
    natsUrl,
    brokerHost: reader.string('BERTH_NATS_HOST', '127.0.0.1'),
    natsCredentials: natsUrl === undefined ? {} : reader.brokerCredentials(natsUrl),
    eventStoreUrl: reader.optionalPartUrl('EVENTSTORE_URL'),
    databaseUrl: reader.optionalPartUrl('DATABASE_URL'),
    otlpEndpoint: reader.optionalUrl('OTEL_EXPORTER_OTLP_ENDPOINT', ['http', 'https']),
    metricsPort: reader.optionalInteger('BERTH_METRICS_PORT', { min: 1, max: 65_535 }),
    watchParent: reader.boolean('BERTH_PARENT_WATCH', false),
  });
};
