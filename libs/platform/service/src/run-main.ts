import {
  ConfigError,
  EXIT_CONFIG,
  EXIT_UNSUITABLE_HOST,
  UnsuitableHostError,
  type Env,
  type ServiceEnv,
} from '@berth/config';
import {
  createLogger,
  startTelemetry,
  surviveRejections,
  type Logger,
  type Telemetry,
} from '@berth/telemetry';
import type { Stoppable } from './stoppable.js';

/** Log and telemetry settings of every process. */
export type ProcessEnv = Pick<ServiceEnv, 'logLevel' | 'otlpEndpoint' | 'metricsPort'>;

/** One service as a separate process. */
export interface Main<Config extends ProcessEnv> {
  readonly name: string;
  readonly env: Env;
  /** Throws `ConfigError` when the environment is invalid. */
  readConfig(env: Env): Config;
  start(config: Config, log: Logger): Promise<Stoppable>;
}

/** A service that has not stopped this long after SIGTERM is terminated. */
const STOP_DEADLINE_MS = 9_000;
/** The longest call of the API takes 600 s. */
const DRAIN_WITHIN_MS = 610_000;

/**
 * Runs a service until SIGTERM or SIGINT; SIGHUP does not end it. After SIGUSR2 it takes no more calls, and stops when those
 * in flight have ended: for its replacement by another process. Exit codes: 0 stopped, 78 invalid configuration, 69
 * unsuitable host, 1 any other failure.
 */
export const runMain = async <Config extends ProcessEnv>(main: Main<Config>): Promise<void> => {
  // By default the signal would end the process; services that read the operator's file again listen themselves.
  process.on('SIGHUP', () => undefined);
  const config = configOrExit(main);
  const log = createLogger({ service: main.name, level: config.logLevel });
  surviveRejections(log);
  const telemetry = await startTelemetry({
    service: main.name,
    ...(config.otlpEndpoint === undefined ? {} : { otlpEndpoint: config.otlpEndpoint }),
    ...(config.metricsPort === undefined ? {} : { metricsPort: config.metricsPort }),
  });
  try {
    const service = await main.start(config, log);
    log.info('started');
    telemetry.setReady(true);
    stopOnSignal(service, telemetry, log);
  } catch (error) {
    if (error instanceof ConfigError) exitMisconfigured(main.name, error);
    if (error instanceof UnsuitableHostError) exitUnsuitable(main.name, error);
    log.fatal({ err: error }, 'could not start');
    process.exit(1);
  }
};

const configOrExit = <Config extends ProcessEnv>(main: Main<Config>): Config => {
  try {
    return main.readConfig(main.env);
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    return exitMisconfigured(main.name, error);
  }
};

const exitMisconfigured = (name: string, error: ConfigError): never => {
  process.stderr.write(`${name}: ${error.message}\n`);
  process.exit(EXIT_CONFIG);
};

const exitUnsuitable = (name: string, { problems }: UnsuitableHostError): never => {
  process.stderr.write(problems.map((problem) => `${name}: ${problem}\n`).join(''));
  process.exit(EXIT_UNSUITABLE_HOST);
};

const stopOnSignal = (service: Stoppable, telemetry: Telemetry, log: Logger): void => {
  let stopping = false;
  const stop = (signal: string): void => {
    if (stopping) {
      log.info({ signal }, 'already stopping');
      return;
    }
    stopping = true;
    log.info({ signal }, 'stopping');
    telemetry.setReady(false);
    setTimeout(() => process.exit(1), STOP_DEADLINE_MS).unref();
    service
      .stop()
      .then(() => telemetry.stop())
      .then(
        // With 0, or with the `process.exitCode` that the service has set because it stopped by itself.
        () => process.exit(),
        (error: unknown) => {
          log.error({ err: error }, 'did not stop cleanly');
          process.exit(1);
        },
      );
  };
  // Not `once`: while execa runs a program, it ends a process whose last other listener for a signal is gone.
  process.on('SIGTERM', () => stop('SIGTERM'));
  process.on('SIGINT', () => stop('SIGINT'));
  let draining = false;
  process.on('SIGUSR2', () => {
    if (draining) return;
    draining = true;
    log.info('taking no more calls');
    telemetry.setReady(false);
    const drained = (): void => stop('SIGUSR2');
    Promise.resolve(service.drain?.(DRAIN_WITHIN_MS)).then(drained, (error: unknown) => {
      log.error({ err: error }, 'could not drain');
      drained();
    });
  });
};
