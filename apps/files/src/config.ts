import { BrokerEnv, LOG_LEVELS, readEnv, type Env, type LogLevel } from '@berth/config';

/** The service has no tables: all its state is in the event log. */
export abstract class FilesConfig extends BrokerEnv {
  abstract readonly eventStoreUrl: string;
  abstract readonly logLevel: LogLevel;
  abstract readonly otlpEndpoint: string | undefined;
  abstract readonly metricsPort: number | undefined;
}

/**
 * Reads NATS_URL, BERTH_INSTANCE, EVENTSTORE_URL, BERTH_LOG_LEVEL, OTEL_EXPORTER_OTLP_ENDPOINT, BERTH_METRICS_PORT.
 * Throws `ConfigError`.
 */
export const readFilesConfig = (env: Env): FilesConfig => {
  const reader = readEnv(env);
  return reader.done({
    ...reader.brokerEnv(),
    eventStoreUrl: reader.partUrl('EVENTSTORE_URL'),
    logLevel: reader.oneOf('BERTH_LOG_LEVEL', LOG_LEVELS, 'info'),
    otlpEndpoint: reader.optionalUrl('OTEL_EXPORTER_OTLP_ENDPOINT', ['http', 'https']),
    metricsPort: reader.optionalInteger('BERTH_METRICS_PORT', { min: 1, max: 65_535 }),
  });
};
