import { agentsRequests, type AwakeAgent, type EnsureAwake } from '@berth/contracts-agents';
import { runtimeRequests, type DeliverMessage } from '@berth/contracts-runtime';
import { CommandHandler, connectEventStore, ProjectionRunner, type EventStore } from '@berth/event-store';
import { DomainError } from '@berth/kernel';
import { NatsLink, Requester } from '@berth/messaging';
import { openDatabase, type Database } from '@berth/persistence';
import { startTestInfra, type TestInfra } from '@berth/testing';
import { setTimeout as sleep } from 'node:timers/promises';
import { conversationListProjection } from '../conversation-list/conversation-list.projection.js';
import { ConversationListQuery } from '../conversation-list/conversation-list.query.js';
import { DeliveryCommandHandler } from '../delivery/delivery.command-handler.js';
import { deliveryDecider } from '../delivery/delivery.decider.js';
import { deliveryCodec } from '../delivery/delivery.events.js';
import { MessageBudget } from '../delivery/message-budget.js';
import { MessageJournal } from '../delivery/message-journal.js';
import { awakeAt, FarServices, silent } from '../fixtures/far-services.fixture.js';
import { GuestKilled } from '../fixtures/played-guest.fixture.js';
import { migrations } from '../migrations/index.js';
import { LostDeliveries } from '../timers/lost-deliveries.js';
import type { AgentState, Program } from './chat-plan.fixture.js';
import type { World } from './faulty-process.fixture.js';

const SLOWLY_MS = 50;
const MESSAGES_PER_MINUTE = 1_000_000;

/** A real log, real tables and a real broker, with played agents whose programs do as planned. */
export class ChatWorld implements World {
  readonly messagesPerMinute = MESSAGES_PER_MINUTE;
  readonly #agents = new Map<string, { state: AgentState; epoch: number }>();
  readonly #programs = new Map<string, Program>();
  readonly #ending = new AbortController();
  readonly #running: Promise<void>;

  private constructor(
    private readonly infra: TestInfra,
    private readonly far: FarServices,
    private readonly link: NatsLink,
    readonly store: EventStore,
    readonly database: Database,
    readonly conversationList: ProjectionRunner,
    readonly requester = new Requester(link),
  ) {
    this.#running = conversationList.run(this.#ending.signal);
    far.on(agentsRequests.ensureAwake, (asked) => this.#ensureAwake(asked));
    far.on(runtimeRequests.deliver, (message) => this.#deliver(message));
    far.guest.runs((message) => this.#run(message));
  }

  static async start(): Promise<ChatWorld> {
    const infra = await startTestInfra({ parts: ['nats', 'eventStore', 'postgres'] });
    const far = await FarServices.start(infra.natsUrl);
    const link = await NatsLink.open({ url: infra.natsUrl, name: 'test', log: silent });
    const store = connectEventStore({ url: infra.eventStoreUrl, log: silent });
    const database = await openDatabase({
      url: infra.databaseUrl,
      schema: 'delivery',
      migrations,
      applicationName: 'test',
      log: silent,
    });
    const projection = conversationListProjection;
    const runner = new ProjectionRunner({ store, database, projection, log: silent });
    const world = new ChatWorld(infra, far, link, store, database, runner);
    await runner.untilCaughtUp();
    return world;
  }

  async stop(): Promise<void> {
    this.#ending.abort();
    await this.#running;
    await this.far.stop();
    await Promise.all([this.link.close(), this.store.close(), this.database.close()]);
    await this.infra.stop();
  }

  bring(agentId: string, state: AgentState): void {
    const known = this.#agents.get(agentId);
    this.#agents.set(agentId, { state, epoch: (known?.epoch ?? 0) + 1 });
  }

  /** What the program does with that text. */
  expect(text: string, program: Program): void {
    this.#programs.set(text, program);
  }

  /** Every message that the agent's program got, in order. */
  received(agentId: string): readonly DeliverMessage[] {
    return this.far.guest.received.filter((message) => message.agentId === agentId);
  }

  /** Ends what processes left open when they died. */
  async endLost(): Promise<void> {
    const { store, database, requester, conversationList } = this;
    const head = await store.head();
    if (head !== null) await conversationList.waitFor(head, 30_000);
    const deliveries = new CommandHandler({ store, decider: deliveryDecider, codec: deliveryCodec });
    const lost = new LostDeliveries({
      store,
      deliveries: new DeliveryCommandHandler(deliveries, conversationList),
      query: new ConversationListQuery(database, 0),
      journal: new MessageJournal(requester),
      budget: new MessageBudget(database, MESSAGES_PER_MINUTE),
      log: silent,
    });
    await lost.endLost(this.#ending.signal);
  }

  /** How many messages of the agent were counted in its last minute. */
  async counted(agentId: string): Promise<number> {
    const rows = await this.database.query<{ taken: number }>(
      'SELECT taken FROM message_budget WHERE agent_id = $1',
      [agentId],
    );
    return rows[0]?.taken ?? 0;
  }

  #ensureAwake(asked: EnsureAwake): AwakeAgent {
    const agent = this.#agents.get(asked.agentId);
    if (agent === undefined || agent.state === 'stopped') throw conflict('agent_stopped');
    if (agent.state === 'asleep') {
      if (asked.asleep === 'refuse') throw conflict('agent_asleep');
      this.bring(asked.agentId, 'awake');
    }
    return awakeAt(this.#agents.get(asked.agentId)?.epoch ?? 0, asked);
  }

  #deliver(message: DeliverMessage) {
    const agent = this.#agents.get(message.agentId);
    if (agent?.state !== 'awake' || agent.epoch !== message.epoch) throw conflict('stale_epoch');
    return this.far.guest.deliver(message);
  }

  async #run({ message }: DeliverMessage): Promise<string> {
    switch (this.#programs.get(message)) {
      case 'fails':
        throw new DomainError('upstream', 'agent_error', `no to ${message}`);
      case 'dies':
        throw new GuestKilled();
      case 'answers-slowly':
        await sleep(SLOWLY_MS);
    }
    return responseTo(message);
  }
}

/** What every program answers that does. */
export const responseTo = (text: string): string => `re: ${text}`;

const conflict = (code: string): DomainError => new DomainError('conflict', code, 'No.');
