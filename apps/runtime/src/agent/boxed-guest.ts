import type { DeliveredMessage, StartedAgent } from '@berth/contracts-runtime';
import { isDomainError } from '@berth/kernel';
import type { DeliverToProgram, GuestEvent } from '@berth/guest-protocol';
import { injectTrace, withSpan, type TraceCarrier } from '@berth/telemetry';
import type { Box } from '../driver/driver.js';
import { GuestClient } from '../guest/guest-client.js';
import { watchEvents } from '../guest/watch-events.js';
import { Activity, type ActivityView } from './activity.js';
import { agentUnavailable } from './agent-refusals.js';

/** Called as things happen while the guest is awake. */
export interface WakefulHooks {
  readonly idleTtlSeconds: number;
  readonly onIdle: () => void;
  readonly onActivity: (view: ActivityView) => void;
  readonly onEvent: (event: GuestEvent) => void;
}

/** A guest in its box: whether it is awake, and what goes on in it meanwhile. */
export class BoxedGuest {
  readonly #events = { last: 0 };
  #awake: { readonly activity: Activity; readonly ending: AbortController } | undefined;

  constructor(
    readonly box: Box,
    readonly started: StartedAgent,
    private readonly client: GuestClient = new GuestClient(box.socket),
  ) {}

  get awake(): boolean {
    return this.#awake !== undefined;
  }

  /** Whether it is awake and nothing went on for the agent's idle time. */
  get idle(): boolean {
    return this.#awake?.activity.idle === true;
  }

  /** The processes run: requests may come in. */
  wake({ idleTtlSeconds, onIdle, onActivity, onEvent }: WakefulHooks): void {
    const ending = new AbortController();
    const activity = new Activity('start', idleTtlSeconds, { onIdle, onChange: onActivity });
    this.#awake = { activity, ending };
    void watchEvents(this.client, this.#events, ending.signal, onEvent);
  }

  /** Whether something is in flight. */
  get busy(): boolean {
    return this.#awake?.activity.busy === true;
  }

  /** Waits for what is in flight to end, so long at most. */
  async untilQuiet(withinMs: number): Promise<void> {
    await this.#awake?.activity.untilQuiet(withinMs);
  }

  /** From now on no request gets in, and those that are in get no answer. Comes before the processes are touched. */
  rest(): void {
    this.#awake?.activity.end();
    this.#awake?.ending.abort();
    this.#awake = undefined;
  }

  async deliver(message: DeliverToProgram): Promise<DeliveredMessage> {
    if (this.#awake === undefined) throw agentUnavailable('The agent is not awake.');
    const { activity, ending } = this.#awake;
    return activity.during('chat', async () => {
      try {
        return await withSpan('guest deliver', { kind: 'client' }, () =>
          this.client.deliver({ ...message, ...traceOf(injectTrace()) }, ending.signal),
        );
      } catch (error) {
        if (!isDomainError(error) || error.code !== 'guest_unreachable') throw error;
        throw agentUnavailable('The agent was put to rest while it was answering.');
      }
    });
  }

  async replaceEnv(
    env: Readonly<Record<string, string>>,
    readyWithinMs: number,
    signal: AbortSignal,
  ): Promise<void> {
    await this.client.putEnv({ env, readyWithinMs }, signal);
  }

  /** Ends the program and the guest politely, as far as they listen. */
  async shutDown(graceMs: number): Promise<void> {
    await this.client.shutDown(graceMs).catch(() => undefined);
  }

  async close(): Promise<void> {
    this.rest();
    await this.client.close();
  }
}

const traceOf = ({ traceparent }: TraceCarrier): { traceparent?: string } =>
  traceparent === undefined ? {} : { traceparent };
