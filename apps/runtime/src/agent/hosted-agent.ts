import {
  boxUnavailable,
  type AgentEpoch,
  type IdleTime,
  type ObservedAgent,
  type ReplaceEnv,
  type StartAgent,
  type StartedAgent,
  type ThawAgent,
} from '@berth/contracts/runtime';
import { detach, isDomainError } from '@berth/kernel';
import pLimit from 'p-limit';
import { canThaw, observedAgent, type CurrentGuest, type Life } from './agent-life.js';
import { NO_BOX, type AgentRecord } from './agent-record.js';
import { agentNotFrozen, agentNotOnHost, staleEpoch } from './agent-refusals.js';
import type { HostedAgentDeps } from './hosted-agent-deps.js';
import type { BoxedGuest } from './boxed-guest.js';
import { explainKill } from './explain-kill.js';
import { dropBox, endGuest, findGuest, freezeGuest, reopen, startGuest } from './guest-lifecycle.js';
import { InterruptibleTask } from './interruptible-task.js';
import { PendingEnd } from './pending-end.js';
import { RecordKeeper } from './record-keeper.js';

/** How long an explicit sleep waits for running chats. */
const DRAIN_MS = 20_000;
const STOP_GRACE_MS = 10_000;
const REMOVE_GRACE_MS = 1_000;
const RELOAD_WITHIN_MS = 50_000;

/**
 * One agent on this host. State changes run one at a time, in order; an old epoch is rejected before anything is done.
 * Only this class freezes an agent; it freezes an idle one only while nothing is in flight.
 */
export class HostedAgent {
  readonly pendingEnd = new PendingEnd();
  #life: Life = { at: 'resting' };
  readonly #serial = pLimit(1);
  readonly #longTask = new InterruptibleTask();
  readonly #keeper: RecordKeeper;

  constructor(
    record: AgentRecord,
    private readonly deps: HostedAgentDeps,
  ) {
    this.#keeper = new RecordKeeper(record, deps);
  }

  get agentId(): string {
    return this.#record.agentId;
  }

  get removed(): boolean {
    return this.#keeper.removed;
  }

  /** The agent's state on this host; null while it rests. */
  get observed(): ObservedAgent | null {
    return observedAgent(this.#record, this.#life);
  }

  start(request: StartAgent): Promise<StartedAgent> {
    const { epoch } = request;
    const joined = this.#longTask.startOf(epoch);
    if (joined !== undefined) return joined;
    if (epoch < this.#longTask.epoch) return Promise.reject(this.#stale());
    this.#longTask.interrupt(epoch - 1);
    return this.#longTask.start(epoch, (interrupt) => this.#serial(() => this.#startNow(request, interrupt)));
  }

  thaw({ agentId, epoch, idleTtlSeconds }: ThawAgent): Promise<StartedAgent> {
    return this.#serial(async () => {
      this.#refuseBelow(this.#record.epoch, epoch);
      const life = this.#life;
      if (!canThaw(life, epoch, this.#record)) throw agentNotFrozen();
      if (life.at === 'frozen') {
        this.#refuseBelow(this.#record.epoch + 1, epoch);
        await this.deps.driver.thaw(agentId);
        this.#wake(life.guest);
      }
      if (epoch !== this.#record.epoch) {
        await this.#keeper.save({ epoch });
        await this.#changeIdleTime(idleTtlSeconds ?? this.#record.idleTtlSeconds);
      }
      if (life.guest.refusesCommands) await reopen(life.guest);
      return life.guest.started;
    });
  }

  /** Ends commands and transfers; chats may finish within `DRAIN_MS`. A wake meanwhile has a higher epoch and wins. */
  async freeze({ epoch }: AgentEpoch): Promise<void> {
    const giveUpAt = performance.now() + DRAIN_MS;
    await this.#serial(async () => {
      if (this.#life.at === 'awake' && epoch === this.#record.epoch) await this.#life.guest.quiesce();
    });
    while (!(await this.#serial(() => this.#freezeIfQuiet(epoch, giveUpAt)))) {
      if (this.#life.at === 'awake') await this.#life.guest.untilQuiet(giveUpAt - performance.now());
    }
  }

  /** Without effect unless the agent is up at that epoch; takes effect once its start or thaw is over. */
  setIdleTime({ epoch, idleTtlSeconds }: IdleTime): void {
    this.#inBackground(async () => {
      const isUp = this.#life.at !== 'resting' && epoch === this.#record.epoch;
      if (isUp) await this.#changeIdleTime(idleTtlSeconds);
    });
  }

  async stop({ epoch }: AgentEpoch): Promise<void> {
    this.#longTask.interrupt(epoch);
    await this.#serial(async () => {
      this.#refuseBelow(this.#record.epoch, epoch);
      const ran = this.#life.at !== 'resting';
      await this.#end(STOP_GRACE_MS);
      await this.#keeper.save({ epoch, endedEpoch: epoch, ...NO_BOX });
      if (ran) await this.#keeper.log('info', 'Stopped.');
    });
  }

  /** Ends the agent because its host shuts down; returns the epoch at which it was running, or null if it was not. */
  async shutDown(graceMs: number): Promise<number | null> {
    this.#longTask.interrupt();
    return this.#serial(async () => {
      if (this.#life.at === 'resting') return null;
      await this.#end(graceMs);
      await this.#keeper.forgetEndedBox();
      await this.#keeper.log('info', 'Stopped with its host.');
      return this.#record.epoch;
    });
  }

  async remove(): Promise<void> {
    this.#keeper.removed = true;
    this.#longTask.interrupt();
    await this.#serial(async () => {
      await this.#end(REMOVE_GRACE_MS);
      await this.deps.driver.remove(this.agentId);
      await this.deps.records.remove(this.agentId);
    });
  }

  replaceEnv({ epoch, env }: ReplaceEnv): Promise<void> {
    return this.#longTask.run(epoch, (interrupt) => this.#serial(() => this.#reload(epoch, env, interrupt)));
  }

  /** The guest, if it is awake at exactly that epoch. Errors: not_found `agent_not_on_host`, conflict `stale_epoch`. */
  awakeAt(epoch: number): BoxedGuest {
    if (this.#record.epoch === 0) throw agentNotOnHost();
    if (this.#life.at !== 'awake' || epoch !== this.#record.epoch) throw this.#stale();
    return this.#life.guest;
  }

  /** Like `awakeAt`, for new commands and transfers: also throws if the agent prepares to sleep. */
  openAt(epoch: number): BoxedGuest {
    const guest = this.awakeAt(epoch);
    if (guest.closing) throw staleEpoch(epoch, 'freezing');
    return guest;
  }

  /** The agent's current epoch and guest. Errors: not_found `agent_not_on_host`. */
  get current(): CurrentGuest {
    const { epoch, startedAt } = this.#record;
    if (epoch === 0 || this.#keeper.removed) throw agentNotOnHost();
    return { epoch, startedAt, awake: this.#life.at === 'awake' ? this.#life.guest : null };
  }

  /** Takes over the box that an earlier process of this host left running if it is `ours`; otherwise ends it. */
  settleBox(ours: boolean): Promise<void> {
    return this.#serial(async () => {
      const guest = await (ours ? findGuest : dropBox)(this.deps, this.#keeper);
      if (guest === undefined) return;
      this.#watchEnd(guest);
      if (await this.deps.driver.isFrozen(this.agentId)) this.#life = { at: 'frozen', guest };
      else await this.#wakeWithRunningCommands(guest);
    });
  }

  async #startNow(request: StartAgent, interrupt: AbortSignal): Promise<StartedAgent> {
    if (interrupt.aborted) throw this.#stale();
    this.#refuseBelow(Math.max(this.#record.epoch, this.#record.endedEpoch + 1), request.epoch);
    if ('guest' in this.#life && request.epoch === this.#record.epoch) return this.#life.guest.started;
    await this.#end(STOP_GRACE_MS);
    this.#life = { at: 'starting' };
    try {
      const guest = await startGuest(this.deps.starter, this.#keeper, request, interrupt);
      this.#watchEnd(guest);
      this.#wake(guest);
      await this.#keeper.log('info', 'Started.');
      return guest.started;
    } catch (error) {
      this.#life = { at: 'resting' };
      if (this.#keeper.removed) throw this.#stale();
      await this.#keeper.forgetEndedBox();
      if (interrupt.aborted) throw this.#stale();
      await this.#keeper.logFailedStart(error);
      throw error;
    }
  }

  async #reload(epoch: number, env: ReplaceEnv['env'], interrupt: AbortSignal): Promise<void> {
    const guest = this.awakeAt(epoch);
    try {
      await guest.replaceEnv(await this.deps.starter.fullEnv(this.#record, env), RELOAD_WITHIN_MS, interrupt);
      await this.#keeper.log('info', 'Restarted with a new environment.');
    } catch (error) {
      if (interrupt.aborted) throw this.#stale();
      if (isDomainError(error, 'upstream')) await this.#fail(guest, 'crash_loop', error.message);
      throw error;
    }
  }

  #wake(guest: BoxedGuest): void {
    this.#life = { at: 'awake', guest };
    guest.wake({
      idleTtlSeconds: this.#record.idleTtlSeconds,
      onIdle: () => this.#inBackground(() => this.#sleepIfIdle(guest)),
      onActivity: (view) => this.deps.activities.note(this.agentId, view),
      onCrashLoop: (message) => this.#inBackground(() => this.#fail(guest, 'crash_loop', message)),
      onKilled: () => this.#inBackground(() => explainKill(guest, this.#keeper, this.deps)),
    });
    detach(this.deps.polls.follow(this.agentId, guest.client, guest.signals.ending));
  }

  async #changeIdleTime(idleTtlSeconds: number): Promise<void> {
    if (idleTtlSeconds === this.#record.idleTtlSeconds) return;
    await this.#keeper.save({ idleTtlSeconds });
    if ('guest' in this.#life) this.#life.guest.setIdleTime(idleTtlSeconds);
  }

  async #wakeWithRunningCommands(guest: BoxedGuest): Promise<void> {
    this.#wake(guest);
    await reopen(guest);
  }

  async #freezeIfQuiet(epoch: number, giveUpAt: number): Promise<boolean> {
    if (this.#life.at === 'resting') throw agentNotOnHost();
    if (epoch !== this.#record.epoch) throw this.#stale();
    if (this.#life.at !== 'awake') return true;
    if (this.#life.guest.busy && performance.now() < giveUpAt) return false;
    await this.#freezeNow(this.#life.guest);
    return true;
  }

  async #freezeNow(guest: BoxedGuest): Promise<void> {
    // In the same tick as the check for work in flight: no request is accepted from here on.
    this.#life = { at: 'frozen', guest };
    if (await freezeGuest(this.deps, this.agentId, guest)) return;
    await this.#wakeWithRunningCommands(guest);
    throw boxUnavailable(this.agentId, 'cannot be put to sleep right now.');
  }

  async #sleepIfIdle(guest: BoxedGuest): Promise<void> {
    if (!this.#has(guest) || !guest.idle) return;
    await this.#freezeNow(guest);
    this.#keeper.report({ type: 'asleep', depth: 'warm', reason: 'idle' });
  }

  #watchEnd(guest: BoxedGuest): void {
    detach(guest.over.then((why) => this.#inBackground(() => this.#fail(guest, 'exited', why))));
  }

  /** Ends the agent after a failure and reports it. */
  async #fail(guest: BoxedGuest, type: 'exited' | 'crash_loop', message: string): Promise<void> {
    if (!this.#has(guest)) return;
    await this.#end(0);
    await this.#keeper.forgetEndedBox();
    // The guest itself has already logged a crash loop.
    if (type === 'exited') await this.#keeper.log('error', message);
    this.#keeper.report({ type, message });
  }

  async #end(graceMs: number): Promise<void> {
    const life = this.#life;
    this.#life = { at: 'resting' };
    await this.pendingEnd.during(endGuest(this.deps.driver, this.agentId, life, graceMs));
  }

  #has(guest: BoxedGuest): boolean {
    return 'guest' in this.#life && this.#life.guest === guest;
  }

  #refuseBelow(least: number, epoch: number): void {
    if (epoch < least || this.#keeper.removed) throw this.#stale();
  }

  #stale(): Error {
    return staleEpoch(this.#record.epoch, this.#keeper.removed ? 'removed' : this.#life.at);
  }

  #inBackground(work: () => Promise<void>): void {
    this.#serial(work).catch((error: unknown) => {
      this.deps.log.error({ agentId: this.agentId, err: error }, 'background work of an agent failed');
    });
  }

  get #record(): AgentRecord {
    return this.#keeper.record;
  }
}
