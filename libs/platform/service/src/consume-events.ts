import { EventStore } from '@berth/event-store';
import { EventConsumer, NatsLink, type EventConsumerOptions } from '@berth/messaging';
import { EventConsumers } from '@berth/operations';
import { Database } from '@berth/persistence';
import { Supervisor } from '@berth/supervision';
import { Logger } from '@berth/telemetry';
import { Injectable, type OnApplicationBootstrap, type OnModuleInit } from '@nestjs/common';
import { DiscoveryService } from '@nestjs/core';

/** A provider that handles the events of another context; see `EventConsumerOptions` for what it must keep to. */
export type EventReaction = Pick<EventConsumerOptions, 'handle' | 'forgetAfter'>;

/** Marks a provider that is an `EventReaction`: the platform consumes these events and hands them to it. */
export const ConsumeEvents =
  DiscoveryService.createDecorator<Pick<EventConsumerOptions, 'context' | 'durable' | 'filterSubjects'>>();

/** What a consumer needs. */
@Injectable()
export class ConsumerParts {
  constructor(
    readonly link: NatsLink,
    readonly database: Database,
    readonly store: EventStore,
    readonly log: Logger,
  ) {}
}

/** Runs a durable consumer for every provider with `@ConsumeEvents`. */
@Injectable()
export class EventConsumption implements OnModuleInit, OnApplicationBootstrap {
  constructor(
    private readonly discovery: DiscoveryService,
    private readonly consumers: EventConsumers,
    private readonly supervisor: Supervisor,
    private readonly parts: ConsumerParts,
  ) {}

  onModuleInit(): void {
    for (const provider of this.discovery.getProviders({ metadataKey: ConsumeEvents.KEY })) {
      const events = this.discovery.getMetadataByDecorator(ConsumeEvents, provider);
      if (events !== undefined)
        this.consumers.add(this.consumerOf(events, provider.instance as EventReaction));
    }
  }

  onApplicationBootstrap(): void {
    for (const consumer of this.consumers.all())
      this.supervisor.start(`consumer ${consumer.durable}`, (signal) => consumer.run(signal));
  }

  private consumerOf(
    events: Pick<EventConsumerOptions, 'context' | 'durable' | 'filterSubjects'>,
    reaction: EventReaction,
  ): EventConsumer {
    return new EventConsumer({
      ...this.parts,
      ...events,
      handle: (event, tx) => reaction.handle(event, tx),
      forgetAfter: async (position, tx) => reaction.forgetAfter?.(position, tx),
    });
  }
}
