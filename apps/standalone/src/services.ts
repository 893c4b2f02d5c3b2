import { setTimeout as sleep } from 'node:timers/promises';
import { AccountsModule } from '@berth/accounts';
import { AgentsModule } from '@berth/agents';
import { AuditModule } from '@berth/audit';
import { BillingModule } from '@berth/billing';
import type { Env } from '@berth/config';
import { DeliveryModule } from '@berth/delivery';
import type { ServiceName } from '@berth/embedded';
import { EndUsersModule } from '@berth/end-users';
import { ExecModule } from '@berth/exec';
import { FilesModule } from '@berth/files';
import { readGatewayConfig, startGateway } from '@berth/gateway';
import { LlmModule } from '@berth/llm';
import { ProcessHandlers } from '@berth/messaging';
import { RuntimeModule } from '@berth/runtime';
import { SchedulesModule } from '@berth/schedules';
import { definitionOf, launchService, type ServiceModule, type Stoppable } from '@berth/service';
import type { Logger } from '@berth/telemetry';

/**
 * SIGTERM allows 10 s in total, even while a part is frozen and every connection takes its full timeout to close.
 * Requests in flight get this long before the agents they wait for are ended; agents get 2 s and are then killed.
 */
const IN_FLIGHT_MS = 2_000;
const AGENTS_END_WITHIN_MS = 4_500;
const REST_ENDS_WITHIN_MS = 1_000;

/** Services that start in any order. */
const MODULES: readonly ServiceModule[] = [
  AccountsModule,
  AuditModule,
  BillingModule,
  DeliveryModule,
  EndUsersModule,
  ExecModule,
  FilesModule,
  SchedulesModule,
  LlmModule,
];

/** Throws `ConfigError` with the problems of the first service whose configuration is invalid. */
export const checkServiceConfigs = (env: Env): void => {
  for (const read of [
    ...[...MODULES, AgentsModule, RuntimeModule].map((module) => definitionOf(module).readConfig),
    readGatewayConfig,
  ]) {
    read(env);
  }
};

/**
 * Starts all services in one process; requests between them do not pass the broker. When one fails to start, or `signal` aborts first, those that started are stopped
 * and the error, or the signal's reason, is thrown. `freePort` is called just before the gateway listens on its port.
 */
export const startServices = async (
  envOf: (service: ServiceName) => Env,
  logOf: (service: string) => Logger,
  signal: AbortSignal,
  freePort: () => Promise<void> | undefined,
): Promise<Stoppable & { readonly url: string }> => {
  const running = new Map<ServiceName, Stoppable>();
  const handlers = new ProcessHandlers();
  const start = async <Service extends Stoppable>(
    name: ServiceName,
    begin: () => Promise<Service>,
  ): Promise<Service> => {
    const service = await begin();
    running.set(name, service);
    return service;
  };
  const end = async (name: ServiceName): Promise<void> => {
    const service = running.get(name);
    running.delete(name);
    await service
      ?.stop()
      .catch((error: unknown) => logOf(name).error({ err: error }, 'did not stop cleanly'));
  };
  const stop = async (): Promise<void> => {
    const gatewayStopped = end('gateway');
    await within(IN_FLIGHT_MS, gatewayStopped);
    // A chat can take minutes: ending its agent ends the chat, and its caller still gets the error.
    await within(
      AGENTS_END_WITHIN_MS,
      Promise.all([gatewayStopped, end('delivery'), end('files'), end('runtime')]),
    );
    // By now `agents` has received the runtime's last reports.
    await within(REST_ENDS_WITHIN_MS, Promise.all([...running.keys()].map(end)));
  };
  const launch = (module: ServiceModule): Promise<Stoppable> => {
    const { name, readConfig } = definitionOf(module);
    const service = name as ServiceName;
    return start(service, () =>
      launchService(module, { config: readConfig(envOf(service)), log: logOf(service), signal, handlers }),
    );
  };
  const behind = [
    ...MODULES.map(launch),
    // A host announces itself to `agents` as soon as it is up.
    launch(AgentsModule).then(() => launch(RuntimeModule)),
  ];
  try {
    await Promise.all(behind);
    await freePort();
    const { url } = await start('gateway', () =>
      startGateway(readGatewayConfig(envOf('gateway')), logOf('gateway'), { handlers }),
    );
    return { name: 'standalone', url, stop };
  } catch (error) {
    await Promise.allSettled(behind);
    await stop();
    throw error;
  }
};

/** Waits for the work, but not longer than `millis`. */
const within = (millis: number, work: Promise<unknown>): Promise<unknown> =>
  Promise.race([work, sleep(millis, undefined, { ref: false })]);
