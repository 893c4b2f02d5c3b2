import { ConfigError } from '@berth/config';
import { createLogger, startTelemetry } from '@berth/telemetry';
import { readRuntimeConfig, startRuntime, type RuntimeConfig } from './index.js';

/** A host that has not ended by itself so long after SIGTERM is ended. */
const STOP_DEADLINE_MS = 9_000;

const configOrExit = (): RuntimeConfig => {
  try {
    return readRuntimeConfig(process.env);
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    process.stderr.write(`runtime: ${error.message}\n`);
    process.exit(78);
  }
};

const config = configOrExit();
const { logLevel, otlpEndpoint, metricsPort } = config;
const log = createLogger({ service: 'runtime', level: logLevel });
const telemetry = await startTelemetry({
  service: 'runtime',
  ...(otlpEndpoint === undefined ? {} : { otlpEndpoint }),
  ...(metricsPort === undefined ? {} : { metricsPort }),
});
try {
  const runtime = await startRuntime(config, log);
  log.info({ host: runtime.host }, 'started');
  const stop = (signal: string): void => {
    log.info({ signal }, 'stopping');
    setTimeout(() => process.exit(1), STOP_DEADLINE_MS).unref();
    runtime
      .stop()
      .then(() => telemetry.stop())
      .then(
        () => process.exit(0),
        (error: unknown) => {
          log.error({ err: error }, 'did not stop cleanly');
          process.exit(1);
        },
      );
  };
  process.once('SIGTERM', () => stop('SIGTERM'));
  process.once('SIGINT', () => stop('SIGINT'));
} catch (error) {
  log.fatal({ err: error }, 'could not start');
  process.exit(1);
}
