import { setTimeout as delay } from 'node:timers/promises';
import type { ActivityKind } from '@berth/contracts-agents';
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

/** When what goes on in an awake guest is cut. */
export interface Cuts {
  /** As soon as it is to be put to sleep: transfers. */
  readonly closing: AbortSignal;
  /** When it is about to be frozen or ended: chats. */
  readonly ending: AbortSignal;
  /** When it has been: commands, so that a guest that ends still says how they did. */
  readonly still: AbortSignal;
}

/** From waking until rest. */
interface Awake {
  readonly activity: Activity;
  readonly ending: AbortController;
  readonly closing: AbortController;
}

/** A guest in its box: whether it is awake, and what goes on in it meanwhile. */
export class BoxedGuest {
  readonly #events = { last: 0 };
  #awake: Awake | undefined;
  #still = new AbortController();
  #refusesCommands: boolean;
  #ended = false;

  /** `adopted`: what went on before is not known. */
  constructor(
    readonly box: Box,
    readonly started: StartedAgent,
    readonly client: GuestClient = new GuestClient(box.socket),
    { adopted = false }: { readonly adopted?: boolean } = {},
  ) {
    this.#refusesCommands = adopted;
  }

  get awake(): boolean {
    return this.#awake !== undefined;
  }

  /** Whether it is awake and nothing went on for the agent's idle time. */
  get idle(): boolean {
    return this.#awake?.activity.idle === true;
  }

  /** Whether it is still awake but about to be put to sleep: no command and no transfer begins any more. */
  get closing(): boolean {
    return this.#awake?.closing.signal.aborted === true;
  }

  /** When what begins now is cut; all aborted already while it is not awake. */
  get cuts(): Cuts {
    if (this.#awake === undefined) {
      const now = AbortSignal.abort();
      return { closing: now, ending: now, still: now };
    }
    const { closing, ending } = this.#awake;
    return { closing: closing.signal, ending: ending.signal, still: this.#still.signal };
  }

  /** Whether it is gone for good, with every process. */
  get ended(): boolean {
    return this.#ended;
  }

  /** Whether it takes commands as far as is known; see `reopen`. */
  get refusesCommands(): boolean {
    return this.#refusesCommands;
  }

  /** The processes run: requests may come in. */
  wake({ idleTtlSeconds, onIdle, onActivity, onEvent }: WakefulHooks): void {
    const ending = new AbortController();
    const activity = new Activity('start', idleTtlSeconds, { onIdle, onChange: onActivity });
    this.#awake = { activity, ending, closing: new AbortController() };
    this.#still = new AbortController();
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

  /** Before rest: cuts transfers and ends commands, so that whoever waits for one hears how it ended. */
  async quiesce(): Promise<void> {
    if (this.closing) return;
    this.#awake?.closing.abort();
    this.#refusesCommands = true;
    // An older guest does not know of it, a dead one has nothing that runs.
    await this.client.failExecutions().catch(() => undefined);
  }

  /** Takes back `quiesce`. What may have been left running ends: it was told to. */
  async reopen(): Promise<void> {
    if (this.#awake !== undefined && this.closing) {
      this.#awake = { ...this.#awake, closing: new AbortController() };
    }
    if (!this.#refusesCommands) return;
    await this.client.health().then(
      () => (this.#refusesCommands = false),
      () => undefined,
    );
  }

  /** From now on no request gets in, and those that are in get no answer. Comes before the processes are touched. */
  rest(): void {
    this.#awake?.activity.end();
    this.#awake?.closing.abort();
    this.#awake?.ending.abort();
    this.#awake = undefined;
  }

  /** After `rest`: nothing in it moves any more, frozen or gone. */
  still(): void {
    this.#still.abort();
  }

  /** Resolves once it is still, or after so many milliseconds. */
  async untilStill(withinMs: number): Promise<void> {
    await delay(withinMs, undefined, { signal: this.#still.signal, ref: false }).catch(() => undefined);
  }

  /** Work that keeps it awake. Errors: unavailable `agent_unavailable`. */
  async during<T>(kind: ActivityKind, work: (cuts: Cuts) => Promise<T>): Promise<T> {
    if (this.#awake === undefined) throw agentUnavailable('The agent is not awake.');
    const { cuts } = this;
    return this.#awake.activity.during(kind, () => work(cuts));
  }

  async deliver(message: DeliverToProgram): Promise<DeliveredMessage> {
    return this.during('chat', async ({ ending }) => {
      try {
        return await withSpan('guest deliver', { kind: 'client' }, () =>
          this.client.deliver({ ...message, ...traceOf(injectTrace()) }, ending),
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

  /** Gives it up; `ended`: every process of it is known to be gone. */
  async close(ended: boolean): Promise<void> {
    this.rest();
    this.#ended = ended;
    await this.client.close();
    this.still();
  }
}

const traceOf = ({ traceparent }: TraceCarrier): { traceparent?: string } =>
  traceparent === undefined ? {} : { traceparent };
