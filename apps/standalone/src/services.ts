import { setTimeout as sleep } from 'node:timers/promises';
import { readAccountsConfig, startAccounts } from '@berth/accounts';
import { readAgentsConfig, startAgents } from '@berth/agents';
import type { Env } from '@berth/config';
import { readDeliveryConfig, startDelivery } from '@berth/delivery';
import type { ServiceName } from '@berth/embedded';
import { readExecConfig, startExec } from '@berth/exec';
import { readFilesConfig, startFiles } from '@berth/files';
import { readGatewayConfig, startGateway } from '@berth/gateway';
import { readRuntimeConfig, startRuntime } from '@berth/runtime';
import type { Stoppable } from '@berth/service';
import type { Logger } from '@berth/telemetry';

/**
 * SIGTERM has 10 s for everything, also while a part is frozen and every goodbye to it takes its full time. Requests in
 * flight get so long before the agents they wait for are ended; agents may take 2 s and are then killed.
 */
const IN_FLIGHT_MS = 2_000;
const AGENTS_END_WITHIN_MS = 4_500;
const REST_ENDS_WITHIN_MS = 1_000;

/** Throws `ConfigError` naming what is wrong for the first service that has something to complain about. */
export const checkServiceConfigs = (env: Env): void => {
  for (const read of [
    readAccountsConfig,
    readAgentsConfig,
    readDeliveryConfig,
    readExecConfig,
    readFilesConfig,
    readRuntimeConfig,
    readGatewayConfig,
  ]) {
    read(env);
  }
};

/**
 * All services in one process. When one cannot start, or `signal` aborts first, those that did are stopped and the error,
 * or the signal's reason, is thrown.
 */
export const startServices = async (
  envOf: (service: ServiceName) => Env,
  logOf: (service: string) => Logger,
  signal: AbortSignal,
): Promise<Stoppable & { readonly url: string }> => {
  const running = new Map<string, Stoppable>();
  const start = async <Service extends Stoppable>(
    name: ServiceName,
    begin: () => Promise<Service>,
  ): Promise<Service> => {
    const service = await begin();
    running.set(name, service);
    return service;
  };
  const end = async (name: ServiceName): Promise<void> => {
    await running
      .get(name)
      ?.stop()
      .catch((error: unknown) => logOf(name).error({ err: error }, 'did not stop cleanly'));
  };
  const stop = async (): Promise<void> => {
    const doorClosed = end('gateway');
    await within(IN_FLIGHT_MS, doorClosed);
    // A chat may go on for minutes: without its agent it ends, and its caller is still told how.
    await within(
      AGENTS_END_WITHIN_MS,
      Promise.all([doorClosed, end('delivery'), end('files'), end('runtime')]),
    );
    // What the runtime had to say last was said to `agents`.
    await within(REST_ENDS_WITHIN_MS, Promise.all([end('exec'), end('agents'), end('accounts')]));
  };
  const behind = [
    start('accounts', () =>
      startAccounts(readAccountsConfig(envOf('accounts')), logOf('accounts'), { signal }),
    ),
    start('delivery', () =>
      startDelivery(readDeliveryConfig(envOf('delivery')), logOf('delivery'), { signal }),
    ),
    start('exec', () => startExec(readExecConfig(envOf('exec')), logOf('exec'), { signal })),
    start('files', () => startFiles(readFilesConfig(envOf('files')), logOf('files'))),
    // A host announces itself as soon as it is up, to `agents`.
    start('agents', () => startAgents(readAgentsConfig(envOf('agents')), logOf('agents'), { signal })).then(
      () => start('runtime', () => startRuntime(readRuntimeConfig(envOf('runtime')), logOf('runtime'))),
    ),
  ];
  try {
    await Promise.all(behind);
    const { url } = await start('gateway', () =>
      startGateway(readGatewayConfig(envOf('gateway')), logOf('gateway')),
    );
    return { name: 'standalone', url, stop };
  } catch (error) {
    await Promise.allSettled(behind);
    await stop();
    throw error;
  }
};

/** Waits for the work, but no longer than that. */
const within = (millis: number, work: Promise<unknown>): Promise<unknown> =>
  Promise.race([work, sleep(millis, undefined, { ref: false })]);
