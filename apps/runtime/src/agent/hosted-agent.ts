import type {
  AgentEpoch,
  DeliverMessage,
  DeliveredMessage,
  ObservedAgent,
  ReplaceEnv,
  StartAgent,
  StartedAgent,
} from '@berth/contracts-runtime';
import { isDomainError } from '@berth/kernel';
import type { Life } from './agent-life.js';
import { startingRecord, type AgentRecord } from './agent-record.js';
import { agentNotFrozen, agentNotOnHost, agentUnavailable, staleEpoch } from './agent-refusals.js';
import type { AgentSurroundings } from './agent-surroundings.js';
import { BoxedGuest } from './boxed-guest.js';
import { LongWork } from './long-work.js';
import { Serial } from './serial.js';

/** How long an explicit sleep waits for chats that go on. */
const DRAIN_MS = 20_000;
const STOP_GRACE_MS = 10_000;
const REMOVE_GRACE_MS = 1_000;
const RELOAD_WITHIN_MS = 50_000;

/**
 * One agent on this host. What changes it goes through one critical section, in order; an old epoch is refused before
 * anything is done. Only here is an agent frozen, and by idleness only while nothing is in flight.
 */
export class HostedAgent {
  #life: Life = { at: 'resting' };
  readonly #serial = new Serial();
  readonly #long = new LongWork();
  #removed = false;

  constructor(
    private record: AgentRecord,
    private readonly around: AgentSurroundings,
  ) {}

  get agentId(): string {
    return this.record.agentId;
  }

  /** What this host has of it; null while it rests. */
  get observed(): ObservedAgent | null {
    const { agentId, epoch } = this.record;
    if (this.#life.at === 'resting') return null;
    return { agentId, epoch, state: this.#life.at === 'awake' ? 'running' : this.#life.at };
  }

  start(request: StartAgent): Promise<StartedAgent> {
    const { epoch } = request;
    const joined = this.#long.startOf(epoch);
    if (joined !== undefined) return joined;
    if (epoch < this.#long.epoch) return Promise.reject(this.#stale());
    this.#long.interrupt(epoch - 1);
    return this.#long.start(epoch, (interrupt) => this.#serial.run(() => this.#startNow(request, interrupt)));
  }

  thaw({ agentId, epoch }: AgentEpoch): Promise<StartedAgent> {
    return this.#serial.run(async () => {
      this.#refuseBelow(this.record.epoch, epoch);
      const life = this.#life;
      if (life.at !== 'awake' && life.at !== 'frozen') throw agentNotFrozen();
      if (life.at === 'frozen') {
        this.#refuseBelow(this.record.epoch + 1, epoch);
        await this.around.driver.thaw(agentId);
        this.#wake(life.guest);
      }
      if (epoch !== this.record.epoch) await this.#save({ ...this.record, epoch });
      return life.guest.started;
    });
  }

  /** What is in flight is answered first, within bounds; a wake that comes meanwhile has a higher epoch and wins. */
  async freeze({ epoch }: AgentEpoch): Promise<void> {
    const giveUpAt = Date.now() + DRAIN_MS;
    while (!(await this.#serial.run(() => this.#freezeIfQuiet(epoch, giveUpAt)))) {
      if (this.#life.at === 'awake') await this.#life.guest.untilQuiet(giveUpAt - Date.now());
    }
  }

  async stop({ epoch }: AgentEpoch): Promise<void> {
    this.#long.interrupt(epoch);
    await this.#serial.run(async () => {
      this.#refuseBelow(this.record.epoch, epoch);
      const ran = this.#life.at !== 'resting';
      await this.#end(STOP_GRACE_MS);
      await this.#save({ ...this.record, epoch, endedEpoch: epoch, box: null });
      if (ran) await this.#say('info', 'Stopped.');
    });
  }

  /** Ends it with its host; answers the epoch at which it had been up, null when it was not. */
  async shutDown(graceMs: number): Promise<number | null> {
    this.#long.interrupt();
    return this.#serial.run(async () => {
      if (this.#life.at === 'resting') return null;
      await this.#end(graceMs);
      await this.#save({ ...this.record, box: null });
      await this.#say('info', 'Stopped with its host.');
      return this.record.epoch;
    });
  }

  async remove(): Promise<void> {
    this.#removed = true;
    this.#long.interrupt();
    await this.#serial.run(async () => {
      await this.#end(REMOVE_GRACE_MS);
      await this.around.driver.remove(this.agentId);
    });
  }

  replaceEnv({ epoch, env }: ReplaceEnv): Promise<void> {
    return this.#long.run(epoch, (interrupt) => this.#serial.run(() => this.#reload(epoch, env, interrupt)));
  }

  async deliver({ epoch, deliveryId, conversationId, message }: DeliverMessage): Promise<DeliveredMessage> {
    return this.#awakeAt(epoch).deliver({ deliveryId, conversationId, message });
  }

  /** Takes over what an earlier process of this host left running; ends what cannot be taken over. */
  adopt(): Promise<void> {
    return this.#serial.run(async () => {
      const { agentId, box: kept, guest: about } = this.record;
      const { driver } = this.around;
      const box = about === null ? undefined : await driver.find(agentId, kept);
      if (about === null || box === undefined) {
        await driver.end(agentId, 0);
        if (kept !== null) await this.#save({ ...this.record, box: null });
        return;
      }
      const guest = new BoxedGuest(box, { guest: about });
      this.#watchEnd(guest);
      if (await driver.isFrozen(agentId)) this.#life = { at: 'frozen', guest };
      else this.#wake(guest);
    });
  }

  async #startNow(request: StartAgent, interrupt: AbortSignal): Promise<StartedAgent> {
    if (interrupt.aborted) throw this.#stale();
    this.#refuseBelow(Math.max(this.record.epoch, this.record.endedEpoch + 1), request.epoch);
    if ('guest' in this.#life && request.epoch === this.record.epoch) return this.#life.guest.started;
    await this.#end(STOP_GRACE_MS);
    this.#life = { at: 'starting' };
    try {
      await this.#save(startingRecord(this.record, request));
      await this.#say('info', 'Starting.');
      const {
        box,
        client,
        guest: about,
      } = await this.around.starter.start(request, interrupt, (made) =>
        this.#save({ ...this.record, box: made.record }),
      );
      await this.#save({ ...this.record, guest: about });
      const guest = new BoxedGuest(box, { guest: about }, client);
      this.#watchEnd(guest);
      this.#wake(guest);
      await this.#say('info', 'Started.');
      return guest.started;
    } catch (error) {
      this.#life = { at: 'resting' };
      if (this.#removed) throw this.#stale();
      await this.#save({ ...this.record, box: null });
      if (interrupt.aborted) throw this.#stale();
      this.around.log.warn({ agentId: this.agentId, err: error }, 'an agent could not be started');
      await this.#say(
        'error',
        error instanceof Error && isDomainError(error) ? error.message : 'The start failed.',
      );
      throw error;
    }
  }

  async #reload(epoch: number, env: ReplaceEnv['env'], interrupt: AbortSignal): Promise<void> {
    const guest = this.#awakeAt(epoch);
    try {
      await guest.replaceEnv(env, RELOAD_WITHIN_MS, interrupt);
      await this.#say('info', 'Restarted with another environment.');
    } catch (error) {
      if (interrupt.aborted) throw this.#stale();
      if (isDomainError(error, 'upstream')) await this.#fail(guest, 'crash_loop', error.message);
      throw error;
    }
  }

  #wake(guest: BoxedGuest): void {
    this.#life = { at: 'awake', guest };
    guest.wake({
      idleTtlSeconds: this.record.idleTtlSeconds,
      onIdle: () => this.#inBackground(() => this.#sleepIfIdle(guest)),
      onActivity: (view) => this.around.activities.note(this.agentId, view),
      onEvent: (event) => this.#inBackground(() => this.#fail(guest, event.type, event.message)),
    });
  }

  async #freezeIfQuiet(epoch: number, giveUpAt: number): Promise<boolean> {
    if (this.#life.at === 'resting') throw agentNotOnHost();
    if (epoch !== this.record.epoch) throw this.#stale();
    if (this.#life.at !== 'awake') return true;
    if (this.#life.guest.busy && Date.now() < giveUpAt) return false;
    await this.#freezeNow(this.#life.guest);
    return true;
  }

  async #freezeNow(guest: BoxedGuest): Promise<void> {
    // In one step with the look at what is in flight: from here on no request gets in any more.
    this.#life = { at: 'frozen', guest };
    guest.rest();
    try {
      await this.around.driver.freeze(this.agentId);
    } catch (error) {
      this.#wake(guest);
      this.around.log.error({ agentId: this.agentId, err: error }, 'an agent could not be frozen');
      throw agentUnavailable('The agent cannot be put to sleep right now.');
    }
  }

  async #sleepIfIdle(guest: BoxedGuest): Promise<void> {
    if (!this.#has(guest) || !guest.idle) return;
    await this.#freezeNow(guest);
    this.#report({ type: 'asleep', depth: 'warm', reason: 'idle' });
  }

  #watchEnd(guest: BoxedGuest): void {
    void guest.box.gone.then(() =>
      this.#inBackground(() =>
        this.#fail(guest, 'exited', 'The agent ended unexpectedly: its guest process is gone.'),
      ),
    );
  }

  /** Ends what is of no use any more and tells of it. */
  async #fail(guest: BoxedGuest, type: 'exited' | 'crash_loop', message: string): Promise<void> {
    if (!this.#has(guest)) return;
    await this.#end(0);
    await this.#save({ ...this.record, box: null });
    // A crash loop stands in the log already, by the guest's own hand.
    if (type === 'exited') await this.#say('error', message);
    this.#report({ type, message });
  }

  async #end(graceMs: number): Promise<void> {
    const life = this.#life;
    const guest = 'guest' in life ? life.guest : undefined;
    this.#life = { at: 'resting' };
    guest?.rest();
    if (guest !== undefined && graceMs > 0) {
      if (life.at === 'frozen') await this.around.driver.thaw(this.agentId);
      await guest.shutDown(graceMs);
    }
    await this.around.driver.end(this.agentId, guest === undefined ? 0 : graceMs);
    await guest?.close();
  }

  #has(guest: BoxedGuest): boolean {
    return 'guest' in this.#life && this.#life.guest === guest;
  }

  #awakeAt(epoch: number): BoxedGuest {
    if (this.record.epoch === 0) throw agentNotOnHost();
    if (this.#life.at !== 'awake' || epoch !== this.record.epoch) throw this.#stale();
    return this.#life.guest;
  }

  #refuseBelow(least: number, epoch: number): void {
    if (epoch < least || this.#removed) throw this.#stale();
  }

  #stale(): Error {
    return staleEpoch(this.record.epoch, this.#removed ? 'removed' : this.#life.at);
  }

  #inBackground(work: () => Promise<void>): void {
    this.#serial.run(work).catch((error: unknown) => {
      this.around.log.error({ agentId: this.agentId, err: error }, 'an agent could not be looked after');
    });
  }

  #report(observation: Parameters<AgentSurroundings['observations']['report']>[2]): void {
    const { agentId, epoch } = this.record;
    this.around.observations.report(
      agentId,
      epoch,
      observation,
      () => !this.#removed && this.record.epoch === epoch,
    );
  }

  async #save(record: AgentRecord): Promise<void> {
    this.record = record;
    await this.around.records.save(record);
  }

  async #say(level: 'info' | 'error', message: string): Promise<void> {
    await this.around.systemLog.add(this.agentId, level, message);
  }
}
