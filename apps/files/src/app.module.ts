import { AgentClient } from '@berth/agent-client';
import { CommandHandler, type EventStore } from '@berth/event-store';
import { systemClock } from '@berth/kernel';
import { Requester, type NatsLink } from '@berth/messaging';
import { HealthCheck, healthController } from '@berth/operations';
import type { Logger } from '@berth/telemetry';
import { Module, type DynamicModule } from '@nestjs/common';
import { AttachmentTeller } from './change/attachment-teller.js';
import { ChangeCommandHandler } from './change/change.command-handler.js';
import { ChangeNatsController } from './change/change.nats-controller.js';
import { fileChangeDecider } from './change/file-change.decider.js';
import { fileChangeCodec } from './change/file-change.events.js';
import { FileChanges } from './change/file-changes.js';
import type { LaterAttempts } from './change/later-attempts.js';
import { TransferOpener } from './transfer/transfer-opener.js';
import { TransferNatsController } from './transfer/transfer.nats-controller.js';

/** Connections of the service, opened before the module is created. */
export interface FilesParts {
  readonly link: NatsLink;
  readonly store: EventStore;
  readonly later: LaterAttempts;
  readonly log: Logger;
}

@Module({})
export class AppModule {
  static forRoot({ link, store, later, log }: FilesParts): DynamicModule {
    const requester = new Requester(link);
    const agents = new AgentClient(requester);
    const records = new CommandHandler({ store, decider: fileChangeDecider, codec: fileChangeCodec });
    const changes = new FileChanges(records, later, systemClock, log);
    const teller = new AttachmentTeller(requester, later, log);
    return {
      module: AppModule,
      controllers: [TransferNatsController, ChangeNatsController, healthController('files')],
      providers: [
        { provide: HealthCheck, useValue: new HealthCheck({ store }) },
        { provide: TransferOpener, useValue: new TransferOpener(agents, requester) },
        {
          provide: ChangeCommandHandler,
          useValue: new ChangeCommandHandler(agents, changes, teller, requester),
        },
      ],
    };
  }
}
