import { EventStore } from '@berth/event-store';
import { EventRelay, NatsLink, type EventRelayOptions } from '@berth/messaging';
import { Database } from '@berth/persistence';
import { Supervisor } from '@berth/supervision';
import { Logger } from '@berth/telemetry';
import { Injectable, Module, type DynamicModule, type OnApplicationBootstrap } from '@nestjs/common';
import { ServiceContext } from './service-context.js';

/** The events that the service publishes, in their published shape. */
export type RelayedEvents = Pick<EventRelayOptions, 'categories' | 'toContractEvent' | 'retention'>;

@Injectable()
class RelayTask implements OnApplicationBootstrap {
  constructor(
    private readonly relay: EventRelay,
    private readonly supervisor: Supervisor,
  ) {}

  onApplicationBootstrap(): void {
    this.supervisor.start('relay', (signal) => this.relay.run(signal));
  }
}

/** Publishes the public events of the service to the JetStream stream of its context. */
@Module({})
export class RelayModule {
  static forFeature(events: RelayedEvents): DynamicModule {
    return {
      module: RelayModule,
      providers: [
        {
          provide: EventRelay,
          inject: [EventStore, NatsLink, Database, ServiceContext, Logger],
          useFactory: (
            store: EventStore,
            link: NatsLink,
            database: Database,
            { name: context }: ServiceContext,
            log: Logger,
          ) => new EventRelay({ store, link, database, context, log, ...events }),
        },
        RelayTask,
      ],
    };
  }
}
