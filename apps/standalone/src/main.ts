import 'reflect-metadata';
import { readFileSync } from 'node:fs';
import { ConfigError } from '@berth/config';
import { DataFolderInUseError, DataFolderUnusableError, PortUnavailableError } from '@berth/embedded';
import type { Stoppable } from '@berth/service';
import { createLogger, startTelemetry, type Logger } from '@berth/telemetry';
import { readStandaloneConfig, type StandaloneConfig } from './config.js';
import { bootstrapKeyFile, startStandalone } from './standalone.js';

/** Past it the process ends whatever hangs. The contract gives 10 s. */
const STOP_DEADLINE_MS = 9_000;

const say = (line: string): void => void process.stdout.write(`${line}\n`);

const fail = (error: unknown): never => {
  // Mistakes of the operator get their one line; anything else is ours and needs its stack.
  const plain =
    error instanceof ConfigError ||
    error instanceof DataFolderInUseError ||
    error instanceof DataFolderUnusableError ||
    error instanceof PortUnavailableError;
  process.stderr.write(
    plain ? `Berth cannot start: ${error.message}\n` : `Berth cannot start: ${inspect(error)}\n`,
  );
  process.exit(1);
};

const inspect = (error: unknown): string =>
  error instanceof Error ? (error.stack ?? error.message) : String(error);

const stopOnce = (
  service: Promise<Stoppable>,
  stopTelemetry: () => Promise<void>,
  log: Logger,
): (() => void) => {
  let stopping = false;
  return () => {
    if (stopping) return;
    stopping = true;
    setTimeout(() => process.exit(1), STOP_DEADLINE_MS).unref();
    service
      .then((started) => started.stop())
      .then(stopTelemetry)
      .then(
        () => process.exit(0),
        (error: unknown) => {
          log.error({ err: error }, 'did not stop cleanly');
          process.exit(1);
        },
      );
  };
};

const welcome = (config: StandaloneConfig, url: string): void => {
  const keyFile = bootstrapKeyFile(config.dataDir);
  if (process.stdout.isTTY) say(`Your key (in ${keyFile}): ${readFileSync(keyFile, 'utf8').trim()}`);
  say(`Berth is ready at ${url}`);
};

const main = async (): Promise<void> => {
  const config = readStandaloneConfig(process.env);
  const logOf = (service: string): Logger =>
    createLogger({ service, level: config.logLevel, pretty: process.stdout.isTTY });
  const telemetry = await startTelemetry({
    service: 'berth',
    ...(config.otlpEndpoint === undefined ? {} : { otlpEndpoint: config.otlpEndpoint }),
    ...(config.metricsPort === undefined ? {} : { metricsPort: config.metricsPort }),
  });
  const starting = startStandalone(config, process.env, logOf);
  const stop = stopOnce(starting, () => telemetry.stop(), logOf('standalone'));
  process.on('SIGTERM', stop);
  process.on('SIGINT', stop);
  if (config.watchParent) process.once('disconnect', stop);
  const { url } = await starting;
  welcome(config, url);
};

await main().catch(fail);
