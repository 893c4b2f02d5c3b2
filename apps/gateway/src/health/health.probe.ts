import { agentsRequests } from '@berth/contracts-agents';
import { runtimeRequests } from '@berth/contracts-runtime';
import type { NatsLink, Requester } from '@berth/messaging';
import type { Database } from '@berth/persistence';

export type DependencyState = 'ok' | 'down' | 'unknown';

/** `GET /health` (contract §10). */
export interface HealthView {
  readonly status: 'ok' | 'degraded' | 'unavailable';
  /** The runtime's driver. */
  readonly runtime: string;
  readonly version: string;
  readonly dependencies: {
    readonly nats: DependencyState;
    readonly eventStore: DependencyState;
    readonly postgres: DependencyState;
    readonly runtime: DependencyState;
  };
}

export interface HealthFacts {
  readonly version: string;
  /** What `runtime` says while no host answers. */
  readonly driver: string;
}

/** Each look is bounded, so that the answer comes within 2 s whatever is down. */
const LOOK_MS = 1_500;

/** Anybody may ask; the parts are asked no more often than this. */
const FRESH_MS = 250;

/** Looks at what the gateway stands on, one look at a time for all who ask. */
export class HealthProbe {
  #running: Promise<HealthView> | undefined;

  constructor(
    private readonly link: NatsLink,
    private readonly database: Database,
    private readonly requester: Requester,
    private readonly facts: HealthFacts,
  ) {}

  check(): Promise<HealthView> {
    this.#running ??= this.#look().finally(() => {
      setTimeout(() => (this.#running = undefined), FRESH_MS).unref();
    });
    return this.#running;
  }

  async #look(): Promise<HealthView> {
    const [postgres, eventStore, host] = await Promise.all([
      within(this.database.ping().then(() => true)),
      within(this.requester.request(agentsRequests.health, {}, { deadlineMs: LOOK_MS })),
      within(this.requester.request(runtimeRequests.hosts, {}, { deadlineMs: LOOK_MS })),
    ]);
    const dependencies = {
      nats: stateOf(this.link.connected),
      eventStore: eventStore === undefined ? ('unknown' as const) : stateOf(eventStore.eventStore),
      postgres: stateOf(postgres === true),
      runtime: stateOf(host !== undefined),
    };
    return {
      status: statusOf(dependencies),
      runtime: host?.driver ?? this.facts.driver,
      version: this.facts.version,
      dependencies,
    };
  }
}

const stateOf = (fine: boolean): DependencyState => (fine ? 'ok' : 'down');

/** Every request goes over the broker and every key is looked up in a table: without either nothing can be served. */
const statusOf = (dependencies: HealthView['dependencies']): HealthView['status'] => {
  if (dependencies.nats === 'down' || dependencies.postgres === 'down') return 'unavailable';
  return Object.values(dependencies).every((state) => state === 'ok') ? 'ok' : 'degraded';
};

/** The answer, or undefined when it failed or did not come in time. */
const within = async <T>(looked: Promise<T>): Promise<T | undefined> => {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<undefined>((resolve) => {
    timer = setTimeout(() => resolve(undefined), LOOK_MS);
  });
  try {
    return await Promise.race([looked.catch(() => undefined), late]);
  } finally {
    clearTimeout(timer);
  }
};
