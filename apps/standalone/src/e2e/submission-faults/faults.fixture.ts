import { existsSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Api } from '../api.fixture.js';
import { guestOf, signalAll } from '../processes.fixture.js';
import type { FaultyStack, ServiceName } from './faulty-stack.fixture.js';
import type { GuestProxy } from './guest-proxy.fixture.js';
import type { Fault, Moment, Plan, WireName } from './plan.fixture.js';
import type { KeyedMutex } from './keyed-mutex.fixture.js';
import type { Armed, Passing, Wire } from './wire.fixture.js';

/** Where a fault can strike: shared parts, and those that belong to one agent. */
export interface Stage {
  readonly stack: FaultyStack;
  /** One fault at a time for each part. */
  readonly locks: KeyedMutex;
  readonly api: Api;
  readonly agentId: string;
  /** The connection to the gateway of this agent's own client. */
  readonly clientWire: Wire;
  readonly guestProxy: GuestProxy;
  /** The agent's journal folder on the host. */
  readonly journal: string;
  log(what: string): void;
}

/** A fault that has been prepared. */
export interface PreparedFault {
  /** Disarms it if it has not struck yet; resolves once everything is healed. */
  end(): Promise<void>;
  readonly struck: boolean;
}

/** Prepares the faults. Some strike when bytes with the mark pass, some immediately. */
export const prepareFaults = async (
  { fault, also }: Plan,
  mark: string,
  stage: Stage,
): Promise<PreparedFault> => {
  const shared = sharedPart(fault);
  const unlock = shared === undefined ? (): void => undefined : await stage.locks.lock(shared);
  const prepared = new Striking(stage, mark);
  try {
    await prepared.prepare(fault);
    if (also !== null) await prepared.prepare(also);
  } catch (error) {
    unlock();
    throw error;
  }
  void prepared.healed.then(unlock);
  return prepared;
};

/** The part that other agents depend on as well; undefined if only one agent depends on it. */
const sharedPart = (fault: Fault): string | undefined => {
  if (fault.kind === 'process') return fault.process === 'guest' ? undefined : fault.process;
  if (fault.kind !== 'wire') return undefined;
  return fault.wire === 'client-gateway' || fault.wire === 'runtime-guest' ? undefined : fault.wire;
};

class Striking implements PreparedFault {
  #struck = false;
  #ended = false;
  readonly #stops: (() => void)[] = [];
  readonly #healing: Promise<void>[] = [];
  readonly #healed = Promise.withResolvers<void>();

  constructor(
    private readonly stage: Stage,
    private readonly mark: string,
  ) {}

  get struck(): boolean {
    return this.#struck;
  }

  get healed(): Promise<void> {
    return this.#healed.promise;
  }

  async prepare(fault: Fault): Promise<void> {
    const { guestProxy } = this.stage;
    switch (fault.kind) {
      case 'wire':
        return this.#onWire(fault, await this.#wires(fault.wire));
      case 'process':
        return this.#at(fault.moment, fault.afterMs, (wire) => this.#signal(fault, wire));
      case 'life':
        return this.#at(fault.moment, fault.afterMs, () => this.#call(fault.call));
      case 'journal':
        return this.#strike('the journal cannot be written', () => this.#blockJournal(fault.forMs));
      case 'socket':
        return this.#strike("the guest's socket is gone", () => guestProxy.hide(fault.forMs));
      case 'twins':
        return this.#strike('sent twice at once', async () => undefined);
    }
  }

  async end(): Promise<void> {
    this.#ended = true;
    for (const stop of this.#stops) stop();
    // Healing one fault may add more while we wait.
    for (const healing of this.#healing) await healing;
    this.#healed.resolve();
  }

  async #wires(name: WireName): Promise<readonly Wire[]> {
    if (name === 'client-gateway') return [this.stage.clientWire];
    if (name !== 'runtime-guest') return this.stage.stack.wires(name);
    // An agent that has just ended has no such connection.
    const line = await this.stage.guestProxy.open().catch(() => undefined);
    return line === undefined ? [] : [line];
  }

  /**
   * Counts from the point where the command passes: on the connection itself if it passes there, else from its arrival
   * at `exec`.
   */
  async #onWire(
    { wire, strike, after }: Fault & { readonly kind: 'wire' },
    targets: readonly Wire[],
  ): Promise<void> {
    const hit = (armed: Armed): void => {
      this.#stops.push(() => armed.disarm());
      const over = armed.over.then(() => {
        if (!armed.struck) return;
        this.#struck = true;
        this.stage.log(`${wire}: ${strike.how}, over`);
      });
      this.#healing.push(over);
    };
    if (!['exec-log', 'exec-tables', 'agents-nats', 'agents-log'].includes(wire)) {
      for (const target of targets) this.#watch(target, (passing) => hit(passing.arm(strike, after)));
      return;
    }
    const exec = this.stage.stack.wires('exec-nats');
    const own = wire.startsWith('exec');
    exec.forEach((line, index) => {
      const target = own ? targets[index] : targets[0];
      this.#watch(line, () => target && hit(target.arm(strike, after)));
    });
  }

  #watch(wire: Wire, onPassing: (passing: Passing) => void): void {
    this.#stops.push(wire.watch(this.mark, onPassing));
  }

  async #at(moment: Moment, afterMs: number, strike: (wire: number) => Promise<void>): Promise<void> {
    const wires = await this.#wires(moment);
    wires.forEach((wire, index) => {
      this.#watch(wire, () => {
        const timer = afterMs === 0 ? setImmediate(begin) : setTimeout(begin, afterMs);
        this.#stops.push(() =>
          afterMs === 0 ? clearImmediate(timer as NodeJS.Immediate) : clearTimeout(timer as NodeJS.Timeout),
        );
      });
      const begin = (): void => {
        if (!this.#ended) this.#strike(`${String(afterMs)} ms after ${moment}`, () => strike(index));
      };
    });
  }

  #strike(what: string, work: () => Promise<void>): void {
    this.#struck = true;
    this.stage.log(what);
    const healing = work().then(
      () => 'healed',
      (error: unknown) => `not healed: ${String(error)}`,
    );
    this.#healing.push(healing.then((how) => this.stage.log(how)));
  }

  async #signal(fault: Fault & { readonly kind: 'process' }, instance: number): Promise<void> {
    const { stack, agentId } = this.stage;
    const ofMarked = fault.process === 'exec' && fault.moment === 'exec-nats' && instance === 1;
    const service = ofMarked ? 'exec-2' : fault.process;
    const pid = service === 'guest' ? guestOf(agentId) : stack.pidOf(service);
    this.stage.log(`${fault.signal} to ${service}, ${String(pid)}`);
    if (pid === undefined) return;
    signalAll([pid], fault.signal);
    if (fault.signal === 'SIGSTOP') {
      await sleep(fault.forMs);
      signalAll([pid], 'SIGCONT');
    } else if (service !== 'guest') await stack.startAgain(service satisfies ServiceName);
  }

  async #call(call: string): Promise<void> {
    const { api, agentId } = this.stage;
    const response = await api.post(`/api/agents/${agentId}/${call}`).catch((error: unknown) => error);
    const outcome = response instanceof Error ? response.message : JSON.stringify(response).slice(0, 120);
    this.stage.log(`${call}: ${outcome}`);
  }

  /** Replaces the folder by a file, because root can write regardless of modes. */
  async #blockJournal(forMs: number): Promise<void> {
    const folder = join(this.stage.journal, 'executions');
    if (!existsSync(folder)) return;
    renameSync(folder, `${folder}.aside`);
    writeFileSync(folder, 'in the way');
    await sleep(forMs);
    rmSync(folder, { recursive: true, force: true });
    renameSync(`${folder}.aside`, folder);
  }
}
