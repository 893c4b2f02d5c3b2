import { EventStore } from '@berth/event-store';
import { subjectsOf, type EventDefinition, type PayloadOf } from '@berth/kernel';
import { EventConsumer, NatsLink, type EventConsumerOptions, type ReceivedEvent } from '@berth/messaging';
import { EventConsumers } from '@berth/operations';
import { Database, type SqlRunner } from '@berth/persistence';
import { Supervisor } from '@berth/supervision';
import { Logger } from '@berth/telemetry';
import { Injectable, type OnApplicationBootstrap, type OnModuleInit } from '@nestjs/common';
import { DiscoveryService } from '@nestjs/core';
import { requireShape } from './require-shape.js';

/** A provider that handles the events of another context; see `EventConsumerOptions` for its obligations. */
export interface EventReaction<Payload> extends Pick<EventConsumerOptions, 'forgetAfter'> {
  handle(event: ReceivedEvent<Payload>, tx: SqlRunner): Promise<void>;
}

/** Events of one context. */
type EventsOf<Context extends string> = readonly [
  EventDefinition<unknown, Context>,
  ...EventDefinition<unknown, Context>[],
];

interface Consumed<Context extends string, Events extends EventsOf<Context>> {
  readonly context: Context;
  /** See `EventConsumerOptions`. */
  readonly durable: string;
  readonly events: Events;
}

const Reaction = DiscoveryService.createDecorator<Consumed<string, EventsOf<string>>>();

/**
 * Marks a provider that is an `EventReaction` of these events: the platform consumes them and passes them to it. An
 * event whose payload does not have the shape that the contract declares becomes a dead letter instead.
 */
export const ConsumeEvents =
  <const Context extends string, const Events extends EventsOf<Context>>(
    consumed: Consumed<Context, Events>,
  ) =>
  (reaction: abstract new (...parts: never[]) => EventReaction<PayloadOf<Events[number]>>): void => {
    Reaction(consumed)(reaction);
  };

/** The dependencies of a consumer. */
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
    for (const provider of this.discovery.getProviders({ metadataKey: Reaction.KEY })) {
      const consumed = this.discovery.getMetadataByDecorator(Reaction, provider);
      if (consumed !== undefined)
        this.consumers.add(this.consumerOf(consumed, provider.instance as EventReaction<unknown>));
    }
  }

  onApplicationBootstrap(): void {
    for (const consumer of this.consumers.all())
      this.supervisor.start(`consumer ${consumer.durable}`, (signal) => consumer.run(signal));
  }

  private consumerOf(
    { context, durable, events }: Consumed<string, EventsOf<string>>,
    reaction: EventReaction<unknown>,
  ): EventConsumer {
    const [first, ...others] = events;
    return new EventConsumer({
      ...this.parts,
      context,
      durable,
      filterSubjects: [subjectsOf(first), ...others.map(subjectsOf)],
      handle: async (event, tx) => {
        requireShape(events, event);
        await reaction.handle(event, tx);
      },
      forgetAfter: async (position, tx) => reaction.forgetAfter?.(position, tx),
    });
  }
}
