import { setTimeout as sleep } from 'node:timers/promises';
import { agentsRequests } from '@berth/contracts-agents';
import type { Chat, ChatReply } from '@berth/contracts-delivery';
import { runtimeRequests } from '@berth/contracts-runtime';
import { CommandHandler, type EventStore, type ProjectionRunner } from '@berth/event-store';
import { DomainError, type RequestDefinition } from '@berth/kernel';
import type { Requester, RequestOptions } from '@berth/messaging';
import type { SqlRunner } from '@berth/persistence';
import { ConversationListQuery } from '../conversation-list/conversation-list.query.js';
import { ChatCommandHandler } from '../delivery/chat.command-handler.js';
import { DeliveryCommandHandler } from '../delivery/delivery.command-handler.js';
import { deliveryDecider } from '../delivery/delivery.decider.js';
import { deliveryCodec } from '../delivery/delivery.events.js';
import { EarlierMessage } from '../delivery/earlier-message.js';
import { HandOver } from '../delivery/hand-over.js';
import { MessageAdmission } from '../delivery/message-admission.js';
import { MessageBudget } from '../delivery/message-budget.js';
import { MessageJournal } from '../delivery/message-journal.js';
import { OutcomeNotes } from '../delivery/outcome-notes.js';
import { silent } from '../fixtures/far-services.fixture.js';
import type { Step, Strike } from './chat-plan.fixture.js';

/** How long the parts behind a chat may take in these runs. */
export const WITHIN_MS = 600;
const LATE_MS = WITHIN_MS + 150;
const SLOW_MS = 40;

/** The real parts that all processes share. */
export interface World {
  readonly store: EventStore;
  readonly database: SqlRunner;
  readonly requester: Requester;
  readonly conversationList: ProjectionRunner;
  readonly messagesPerMinute: number;
}

/** A process of the service, for one try of a chat: its ports are struck as planned, and it may die of it. */
export class FaultyProcess {
  readonly #seen = new Map<Step, number>();
  readonly #died = Promise.withResolvers<never>();
  readonly #chats: ChatCommandHandler;
  readonly #notes: OutcomeNotes;
  #dead = false;
  #struck: Strike[] = [];

  constructor(
    private readonly world: World,
    private readonly strikes: readonly Strike[],
  ) {
    this.#died.promise.catch(() => undefined);
    const store = this.#store();
    const requester = this.#requester();
    const deliveries = new CommandHandler({ store, decider: deliveryDecider, codec: deliveryCodec });
    const commands = new DeliveryCommandHandler(deliveries, world.conversationList);
    const conversations = new ConversationListQuery(this.#sql('conversation'));
    const budget = new MessageBudget(this.#sql('budget'), world.messagesPerMinute);
    const handOver = new HandOver(requester);
    this.#notes = new OutcomeNotes(commands, silent);
    const earlier = new EarlierMessage(handOver, new MessageJournal(requester), this.#notes);
    const admission = new MessageAdmission(conversations, handOver, budget);
    this.#chats = new ChatCommandHandler(commands, admission, handOver, earlier, this.#notes);
  }

  /** What struck so far. */
  get struck(): readonly Strike[] {
    return this.#struck;
  }

  /** Rejects with `connection_lost` when the process dies first. */
  chat(chat: Chat): Promise<ChatReply> {
    return Promise.race([this.#chats.handle({ ...chat, withinMs: WITHIN_MS }), this.#died.promise]);
  }

  /** Ends it in order; a dead one notes nothing any more. */
  async stop(): Promise<void> {
    await this.#notes.settle(this.#dead ? 0 : 10_000);
  }

  async #at<T>(step: Step, work: () => Promise<T>, refuse: () => Promise<T> = refused): Promise<T> {
    if (this.#dead) return never();
    const nth = this.#seen.get(step) ?? 0;
    this.#seen.set(step, nth + 1);
    const strike = this.strikes.find((one) => one.step === step && one.nth === nth);
    if (strike === undefined) return this.#unlessDead(work());
    this.#struck.push(strike);
    switch (strike.how) {
      case 'refuse':
        return refuse();
      case 'lose':
        await work();
        throw away();
      case 'slow':
        await sleep(SLOW_MS);
        return work();
      case 'late':
        await sleep(LATE_MS);
        return work();
      case 'double':
        return (await Promise.all([work(), work()]))[0];
      case 'kill':
        return this.#die();
      case 'kill-after':
        await work();
        return this.#die();
    }
  }

  /** Nothing goes on in a dead process, not even what it waited for. */
  async #unlessDead<T>(work: Promise<T>): Promise<T> {
    try {
      return await work;
    } finally {
      if (this.#dead) await never();
    }
  }

  #die(): Promise<never> {
    this.#dead = true;
    this.#died.reject(new DomainError('unavailable', 'connection_lost', 'The process died.'));
    return never();
  }

  #store(): EventStore {
    const { store } = this.world;
    return {
      ...methodsOf(store),
      read: (stream, options) => this.#at('log-read', () => store.read(stream, options)),
      append: (stream, events, expected) =>
        this.#at('log-append', () => store.append(stream, events, expected)),
    };
  }

  #sql(step: Step): SqlRunner {
    const { database } = this.world;
    return { query: (sql, params) => this.#at(step, () => database.query(sql, params)) };
  }

  #requester(): Pick<Requester, 'request'> {
    const { requester } = this.world;
    return {
      request: <Req, Res>(
        definition: RequestDefinition<Req, Res>,
        payload: Req,
        options?: RequestOptions,
      ): Promise<Res> => {
        const ask = (): Promise<Res> => requester.request(definition, payload, options);
        // A host that does not exist refuses as the broker does.
        const refuse =
          options?.host === undefined
            ? refused
            : (): Promise<Res> => requester.request(definition, payload, { ...options, host: 'nowhere' });
        return this.#at(stepOf(definition, payload), ask, refuse);
      },
    };
  }
}

const stepOf = (definition: { readonly subject: string }, payload: unknown): Step => {
  if (definition.subject === runtimeRequests.deliver.subject) return 'hand-over';
  if (definition.subject !== agentsRequests.ensureAwake.subject) return 'journal';
  return typeof payload === 'object' && payload !== null && 'asleep' in payload ? 'look' : 'wake';
};

const methodsOf = (store: EventStore): EventStore => ({
  read: (stream, options) => store.read(stream, options),
  append: (stream, events, expected) => store.append(stream, events, expected),
  subscribe: (options) => store.subscribe(options),
  eventAt: (position) => store.eventAt(position),
  head: () => store.head(),
  ping: () => store.ping(),
  close: () => store.close(),
});

const away = (): DomainError => new DomainError('unavailable', 'service_unavailable', 'Away.');
const refused = (): Promise<never> => Promise.reject(away());
const never = <T>(): Promise<T> => new Promise<T>(() => undefined);
