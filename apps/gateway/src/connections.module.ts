import { brokerOf, NatsLink, NatsNotices, Requester } from '@berth/messaging';
import { Database } from '@berth/persistence';
import { openLink, openTables, ServiceContext } from '@berth/service';
import { Logger } from '@berth/telemetry';
import { Global, Module } from '@nestjs/common';
import { GatewayConfig } from './config.js';
import { migrations, VAULT_SCHEMA } from './idempotency/migrations.js';

interface Connections {
  readonly link: NatsLink;
  readonly database: Database;
}

const CONNECTIONS = Symbol('connections');

/** Waits for the broker and the database; both close after everything that uses them has stopped. */
const openConnections = async (context: ServiceContext<GatewayConfig>): Promise<Connections> => {
  const { config, log, startSignal, resources } = context;
  const waiting = { log, ...(startSignal === undefined ? {} : { signal: startSignal }) };
  const link = await openLink({ ...brokerOf(config), name: 'gateway', ...waiting });
  resources.defer(() => link.close());
  const database = await openTables({
    url: config.databaseUrl,
    poolSize: config.databasePool,
    schema: VAULT_SCHEMA,
    migrations,
    applicationName: 'berth-gateway',
    notices: NatsNotices.of(link, 'gateway'),
    ...waiting,
  });
  resources.defer(() => database.close());
  return { link, database };
};

/** The parts that the process passes to the gateway, and its connections; injected by class. */
@Global()
@Module({
  providers: [
    {
      provide: GatewayConfig,
      inject: [ServiceContext],
      useFactory: ({ config }: ServiceContext<GatewayConfig>) => config,
    },
    { provide: Logger, inject: [ServiceContext], useFactory: ({ log }: ServiceContext) => log },
    { provide: CONNECTIONS, inject: [ServiceContext], useFactory: openConnections },
    { provide: NatsLink, inject: [CONNECTIONS], useFactory: ({ link }: Connections) => link },
    { provide: Database, inject: [CONNECTIONS], useFactory: ({ database }: Connections) => database },
    { provide: Requester, inject: [NatsLink], useFactory: (link: NatsLink) => new Requester(link) },
  ],
  exports: [GatewayConfig, Logger, NatsLink, Database, Requester],
})
export class ConnectionsModule {}
