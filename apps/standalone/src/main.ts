import 'reflect-metadata';
import { readFileSync } from 'node:fs';
import { ConfigError, EXIT_CONFIG, EXIT_UNSUITABLE_HOST, UnsuitableHostError } from '@berth/config';
import { DataFolderInUseError, DataFolderUnusableError } from '@berth/embedded';
import { PortUnavailableError } from '@berth/host-requirements';
import { createLogger, startTelemetry, surviveRejections, type Logger } from '@berth/telemetry';
import { readStandaloneConfig, type StandaloneConfig } from './config.js';
import { bootstrapKeyFile, startStandalone, type RunningStandalone } from './standalone.js';

/** The process ends after this time even if something hangs. The contract allows 10 s. */
const STOP_DEADLINE_MS = 9_000;

const say = (line: string): void => void process.stdout.write(`${line}\n`);

const main = async (): Promise<void> => {
  // By default the signal would end the process before the services listen.
  process.on('SIGHUP', () => undefined);
  const config = readStandaloneConfig(process.env);
  const logOf = (service: string): Logger =>
    createLogger({ service, level: config.logLevel, pretty: process.stdout.isTTY });
  surviveRejections(logOf('standalone'));
  const telemetry = await startTelemetry({
    service: 'berth',
    ...(config.otlpEndpoint === undefined ? {} : { otlpEndpoint: config.otlpEndpoint }),
    ...(config.metricsPort === undefined ? {} : { metricsPort: config.metricsPort }),
  });
  const stop = stopRequest(config);
  const berth = await startUnlessStopped(config, logOf, stop.signal);
  if (berth !== undefined) {
    welcome(config, berth.url);
    await stop.requested;
  }
  try {
    await berth?.stop();
    await telemetry.stop();
  } catch (error) {
    logOf('standalone').error({ err: error }, 'did not stop cleanly');
    process.exitCode = 1;
  }
};

/** Returns undefined if the operator stops the process before it is ready. */
const startUnlessStopped = async (
  config: StandaloneConfig,
  logOf: (service: string) => Logger,
  signal: AbortSignal,
): Promise<RunningStandalone | undefined> => {
  try {
    return await startStandalone(config, process.env, logOf, signal);
  } catch (error) {
    if (error === signal.reason) return undefined;
    throw error;
  }
};

/** Resolves and aborts at the first request to stop; from then on the process has a bounded time left. */
const stopRequest = (config: StandaloneConfig): { signal: AbortSignal; requested: Promise<void> } => {
  const controller = new AbortController();
  const { promise, resolve } = Promise.withResolvers<void>();
  const stop = (): void => {
    if (controller.signal.aborted) return;
    setTimeout(() => process.exit(1), STOP_DEADLINE_MS).unref();
    controller.abort();
    resolve();
  };
  process.on('SIGTERM', stop);
  process.on('SIGINT', stop);
  if (config.watchParent) process.once('disconnect', stop);
  return { signal: controller.signal, requested: promise };
};

const welcome = (config: StandaloneConfig, url: string): void => {
  const key = process.stdout.isTTY ? readBootstrapKey(config.dataDir) : undefined;
  if (key !== undefined) say(`Your key (in ${bootstrapKeyFile(config.dataDir)}): ${key}`);
  say(`Berth is ready at ${url}`);
};

/** The file may be missing: the documentation asks operators to delete it once they have other keys. */
const readBootstrapKey = (dataDir: string): string | undefined => {
  try {
    return readFileSync(bootstrapKeyFile(dataDir), 'utf8').trim();
  } catch {
    return undefined;
  }
};

const exitCodeOf = (error: unknown): number => {
  // An operator's mistake is explained in one line; any other failure is a defect and needs its stack.
  const plain =
    error instanceof ConfigError ||
    error instanceof UnsuitableHostError ||
    error instanceof DataFolderInUseError ||
    error instanceof DataFolderUnusableError ||
    error instanceof PortUnavailableError;
  const lines = plain ? error.message.split('\n') : [inspect(error)];
  for (const line of lines) process.stderr.write(`Berth cannot start: ${line}\n`);
  if (error instanceof UnsuitableHostError) return EXIT_UNSUITABLE_HOST;
  return error instanceof ConfigError ? EXIT_CONFIG : 1;
};

const inspect = (error: unknown): string =>
  error instanceof Error ? (error.stack ?? error.message) : String(error);

await main().catch((error: unknown) => {
  process.exitCode = exitCodeOf(error);
});
// 0, unless code above or a service set another exit code.
process.exit();
