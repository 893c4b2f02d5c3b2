import { setTimeout as delay } from 'node:timers/promises';
import type { ActivityKind } from '@berth/contracts/hosting';
import { boxUnavailable, type DeliveredMessage, type StartedAgent } from '@berth/contracts/runtime';
import { detach, type DomainError, isDomainError } from '@berth/kernel';
import { DELIVERY_ABANDONED_CODE, type DeliverToProgram } from '@berth/guest-protocol';
import { injectTrace, requestContext, withSpan, type TraceCarrier } from '@berth/telemetry';
import { AwaitedDeliveries } from '../delivery/awaited-deliveries.js';
import type { Box } from '../driver/driver.js';
import type { GuestClient } from '../guest/guest-client.js';
import { watchEvents } from '../guest/watch-events.js';
import { Activity, type ActivityView } from './activity.js';
import { messageNotHandedOver } from './agent-refusals.js';
import type { GuestLinks } from './agent-starter.js';

/** Callbacks of an awake guest. */
export interface AwakeHooks {
  readonly idleTtlSeconds: number;
  readonly onIdle: () => void;
  readonly onActivity: (view: ActivityView) => void;
  readonly onCrashLoop: (message: string) => void;
  /** The agent's program was killed, and is restarted. */
  readonly onKilled: () => void;
}

/** Signals that abort work in an awake guest. */
export interface AbortSignals {
  /** For transfers: aborts as soon as the agent prepares to sleep. */
  readonly closing: AbortSignal;
  /** For chats: aborts just before the agent is frozen or ended. */
  readonly ending: AbortSignal;
  /**
   * For commands: aborts after the agent was frozen or ended, so that an ending guest can still report their outcome.
   */
  readonly halted: AbortSignal;
}

const GUEST_GONE = 'The agent ended unexpectedly: its guest process is gone.';

/** State of a guest while it is awake. */
interface Awake {
  readonly activity: Activity;
  readonly ending: AbortController;
  readonly closing: AbortController;
}

/** A guest in its box, with its wake state and the work in flight. */
export class BoxedGuest {
  readonly client: GuestClient;
  /** Resolves, with a message for the agent's owner, once the guest has exited or must be ended. */
  readonly over: Promise<string>;
  readonly #end = Promise.withResolvers<string>();
  readonly #api: GuestLinks['api'];
  readonly #events = { last: 0 };
  readonly #deliveries = new AwaitedDeliveries((deliveryId) => detach(this.#abandon(deliveryId)));
  #awake: Awake | undefined;
  #halted = new AbortController();
  #refusesCommands: boolean;
  #oomKills = 0;
  #ended = false;

  /** `adopted`: taken over from an earlier host process, so its previous state is unknown. */
  constructor(
    readonly box: Box,
    readonly started: StartedAgent,
    { client, api }: GuestLinks,
    { adopted = false }: { readonly adopted?: boolean } = {},
  ) {
    this.client = client;
    this.over = Promise.race([box.gone.then(() => GUEST_GONE), this.#end.promise]);
    this.#api = api;
    this.#refusesCommands = adopted;
  }

  /** Has the agent ended like one whose guest is gone. */
  end(reason: string): void {
    this.#end.resolve(reason);
  }

  get awake(): boolean {
    return this.#awake !== undefined;
  }

  /** Whether it is awake and was inactive for the agent's idle time. */
  get idle(): boolean {
    return this.#awake?.activity.idle === true;
  }

  /** Whether it is awake but prepares to sleep: no new command or transfer may begin. */
  get closing(): boolean {
    return this.#awake?.closing.signal.aborted === true;
  }

  /** Abort signals for new work; all are already aborted unless the guest is awake. */
  get signals(): AbortSignals {
    if (this.#awake === undefined) {
      const now = AbortSignal.abort();
      return { closing: now, ending: now, halted: now };
    }
    const { closing, ending } = this.#awake;
    return { closing: closing.signal, ending: ending.signal, halted: this.#halted.signal };
  }

  /** Whether the guest and all its processes are gone for good. */
  get ended(): boolean {
    return this.#ended;
  }

  /** Whether the guest may be rejecting commands, so that it needs `reopen`. */
  get refusesCommands(): boolean {
    return this.#refusesCommands;
  }

  /** Call when the processes are running; requests are accepted from now on. */
  wake({ idleTtlSeconds, onIdle, onActivity, onCrashLoop, onKilled }: AwakeHooks): void {
    const ending = new AbortController();
    const activity = new Activity('start', idleTtlSeconds, { onIdle, onChange: onActivity });
    this.#awake = { activity, ending, closing: new AbortController() };
    this.#halted = new AbortController();
    // A call that outlives the wake has nothing to keep awake.
    this.#api.wake((over) => void this.during('llm', () => over).catch(() => undefined));
    const watch = watchEvents(this.client, this.#events, ending.signal, ({ type, message }) =>
      type === 'killed' ? onKilled() : onCrashLoop(message),
    );
    detach(watch);
  }

  /** Takes effect at once: an agent that was inactive for that long is idle now. */
  setIdleTime(idleTtlSeconds: number): void {
    this.#awake?.activity.setIdleTime(idleTtlSeconds);
  }

  /** Whether the kernel has ended processes for lack of memory since the last call; `oomKills` as in `BoxStats`. */
  hasRunOutOfMemory(oomKills: number): boolean {
    const has = oomKills > this.#oomKills;
    this.#oomKills = oomKills;
    return has;
  }

  /** Whether work is in flight. */
  get busy(): boolean {
    return this.#awake?.activity.busy === true;
  }

  /** Waits until no work is in flight, at most `withinMs`; abandons the messages that still wait for their turn then. */
  async untilQuiet(withinMs: number): Promise<void> {
    await this.#awake?.activity.untilQuiet(withinMs);
    if (this.busy) await this.#abandon(null);
  }

  /** Before rest: aborts transfers and ends commands, so that their callers learn how they ended. */
  async quiesce(): Promise<void> {
    if (this.closing) return;
    this.#awake?.closing.abort();
    this.#refusesCommands = true;
    // Older guests lack this route, and a dead guest runs no commands.
    await this.client.failExecutions().catch(() => undefined);
  }

  /** Reverts `quiesce`. Commands that are still running end anyway: the guest was requested to end them. */
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

  /** Rejects new requests and aborts those in flight. Call it before the processes are frozen or ended. */
  rest(): void {
    this.#api.rest();
    this.#awake?.activity.end();
    this.#awake?.closing.abort();
    this.#awake?.ending.abort();
    this.#awake = undefined;
  }

  /** Call after `rest`, once all processes are frozen or gone. */
  halt(): void {
    this.#halted.abort();
  }

  /** Resolves once `halt` is called, or after `withinMs`. */
  async untilHalted(withinMs: number): Promise<void> {
    await delay(withinMs, undefined, { signal: this.#halted.signal, ref: false }).catch(() => undefined);
  }

  /** Keeps the agent awake while `work` runs. Errors: unavailable `agent_unavailable`. */
  async during<T>(kind: ActivityKind, work: (signals: AbortSignals) => Promise<T>): Promise<T> {
    if (this.#awake === undefined) throw boxUnavailable(this.box.agentId, 'is not awake.');
    const { signals } = this;
    return this.#awake.activity.during(kind, () => work(signals));
  }

  /** A message that waits for its turn in the guest is abandoned when no caller waits for it any more. */
  async deliver(message: DeliverToProgram): Promise<DeliveredMessage> {
    const caller = requestContext.current()?.caller;
    return this.during(message.source ?? 'chat', ({ ending }) =>
      this.#deliveries.during(message.deliveryId, caller, async () => {
        for (;;) {
          const delivered = await this.#deliver(message, ending);
          if (!isDomainError(delivered)) return delivered;
          // Another request for this message may have been the one that was abandoned.
          if (this.closing || caller?.gaveUp === true) throw messageNotHandedOver(delivered);
        }
      }),
    );
  }

  /** Returns the error of a message that was abandoned. */
  async #deliver(message: DeliverToProgram, ending: AbortSignal): Promise<DeliveredMessage | DomainError> {
    try {
      return await withSpan('guest deliver', { kind: 'client' }, () =>
        this.client.deliver({ ...message, ...traceOf(injectTrace()) }, ending),
      );
    } catch (error) {
      if (!isDomainError(error)) throw error;
      if (error.code === DELIVERY_ABANDONED_CODE) return error;
      if (error.code !== 'guest_unreachable') throw error;
      throw boxUnavailable(this.box.agentId, 'was put to sleep or ended while it was responding.');
    }
  }

  // Older guests lack this route, and a dead guest hands nothing over.
  async #abandon(deliveryId: string | null): Promise<void> {
    await this.client.abandonDelivery(deliveryId).catch(() => undefined);
  }

  async replaceEnv(
    env: Readonly<Record<string, string>>,
    readyWithinMs: number,
    signal: AbortSignal,
  ): Promise<void> {
    await this.client.putEnv({ env, readyWithinMs }, signal);
  }

  /** Asks the guest to end the program and itself; ignores failures. */
  async shutDown(graceMs: number): Promise<void> {
    await this.client.shutDown(graceMs).catch(() => undefined);
  }

  /** Releases the guest; `ended`: all its processes are known to be gone. */
  async close(ended: boolean): Promise<void> {
    this.rest();
    this.#ended = ended;
    await Promise.all([this.client.close(), this.#api.close()]);
    this.halt();
  }
}

const traceOf = ({ traceparent }: TraceCarrier): { traceparent?: string } =>
  traceparent === undefined ? {} : { traceparent };
