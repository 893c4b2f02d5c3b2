import { readAccountsConfig, startAccounts } from '@berth/accounts';
import { readAgentsConfig, startAgents } from '@berth/agents';
import type { Env } from '@berth/config';
import { readDeliveryConfig, startDelivery } from '@berth/delivery';
import { readGatewayConfig, startGateway } from '@berth/gateway';
import { readRuntimeConfig, startRuntime } from '@berth/runtime';
import type { Stoppable } from '@berth/service';
import type { Logger } from '@berth/telemetry';

/** The services in the order they end: the door first, then whoever stands behind it. */
const STOP_ORDER = ['gateway', 'delivery', 'runtime', 'agents', 'accounts'] as const;

/** All services in one process. When one cannot start, those that did are stopped and its error is thrown. */
export const startServices = async (
  env: Env,
  logOf: (service: string) => Logger,
): Promise<Stoppable & { readonly url: string }> => {
  const running = new Map<string, Stoppable>();
  const start = async <Service extends Stoppable>(
    name: (typeof STOP_ORDER)[number],
    begin: () => Promise<Service>,
  ): Promise<Service> => {
    const service = await begin();
    running.set(name, service);
    return service;
  };
  const stop = async (): Promise<void> => {
    for (const name of STOP_ORDER) {
      await running
        .get(name)
        ?.stop()
        .catch((error: unknown) => logOf(name).error({ err: error }, 'did not stop cleanly'));
    }
  };
  const behind = [
    start('accounts', () => startAccounts(readAccountsConfig(env), logOf('accounts'))),
    start('agents', () => startAgents(readAgentsConfig(env), logOf('agents'))),
    start('delivery', () => startDelivery(readDeliveryConfig(env), logOf('delivery'))),
    start('runtime', () => startRuntime(readRuntimeConfig(env), logOf('runtime'))),
  ];
  try {
    await Promise.all(behind);
    const { url } = await start('gateway', () => startGateway(readGatewayConfig(env), logOf('gateway')));
    return { name: 'standalone', url, stop };
  } catch (error) {
    await Promise.allSettled(behind);
    await stop();
    throw error;
  }
};
