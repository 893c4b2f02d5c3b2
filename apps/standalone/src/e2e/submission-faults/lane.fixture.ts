import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { eventually } from '@berth/testing';
import { Api } from '../api.fixture.js';
import { recordOf } from './evidence.fixture.js';
import { prepareFaults, type Stage } from './faults.fixture.js';
import type { FaultyStack } from './faulty-stack.fixture.js';
import { GuestProxy } from './guest-proxy.fixture.js';
import { nameOf, planOf, type Before, type Plan } from './plan.fixture.js';
import { attempt, kindOf, markOf, namedBy, type Attempt } from './submission.fixture.js';
import type { KeyedMutex } from './keyed-mutex.fixture.js';
import { brokenGuarantees, type Facts, type View } from './verdict.fixture.js';
import { Wire } from './wire.fixture.js';

/** The outcome of one seed. */
export interface SeedResult {
  readonly plan: Plan;
  readonly struck: boolean;
  readonly attempts: readonly Attempt[];
  readonly broken: readonly string[];
  /** What happened and when, one event a line. */
  readonly story: readonly string[];
}

/** Time until the whole system is healthy again, including restarted services. */
const HEALTHY_WITHIN_MS = 60_000;
/**
 * Time for an execution to end after the last fault. The reconciler runs every 3 s and gives up on a command that its
 * guest has not known for 30 s without interruption; a fault of any lane can interrupt that.
 */
const ENDED_WITHIN_MS = 45_000;
const READ_AGAIN_MS = 50;
/** Time after which nothing changes any more. */
const SETTLED_AFTER_MS = 2_000;
/** A guest that dies more than five times in ten minutes is given up, and a journal keeps a thousand records. */
const MAX_DEATHS = 3;
const MAX_SEEDS = 250;
const MAX_REPEATS = 40;

interface Case {
  readonly plan: Plan;
  readonly attempts: Attempt[];
  readonly views: Map<string, View>;
  struck: boolean;
  readonly story: string[];
}

/** Runs one seed after the other on one agent. */
export class Lane {
  #agentId = '';
  #guestProxy: GuestProxy | undefined;
  #deaths = 0;
  #cases: Case[] = [];

  private constructor(
    private readonly stack: FaultyStack,
    private readonly locks: KeyedMutex,
    private readonly clientWire: Wire,
    private readonly direct: Api,
    private readonly client: Api,
  ) {}

  static async open(stack: FaultyStack, locks: KeyedMutex): Promise<Lane> {
    const wire = await Wire.open({ host: '127.0.0.1', port: Number(new URL(stack.urls[0] ?? '').port) });
    const throughWire = { ...stack, urls: [`http://127.0.0.1:${String(wire.port)}`] };
    return new Lane(stack, locks, wire, new Api(() => stack), new Api(() => throughWire));
  }

  /** Runs one seed and checks its outcome right afterwards. */
  async run(seed: number): Promise<SeedResult> {
    if (this.#agentId === '') await this.#newAgent();
    const plan = planOf(seed);
    const story: string[] = [`${JSON.stringify(plan)} in ${this.#agentId}`];
    const begun = performance.now();
    const log = (what: string): void =>
      void story.push(`${(performance.now() - begun).toFixed(1)} ms: ${what}`);
    const one: Case = { plan, story, attempts: [], views: new Map(), struck: false };
    this.#cases.push(one);
    try {
      one.struck = await this.#submit(one, { ...this.#stage(), log });
      await this.#recover(log);
      const broken = brokenGuarantees(await this.#readAll(one, log));
      if (plan.fault.kind === 'socket' || nameOf(plan.fault) === 'guest SIGKILL') this.#deaths += 1;
      return { ...one, broken };
    } catch (error) {
      this.#agentId = '';
      return { ...one, broken: [`It did not recover: ${String(error)}`] };
    }
  }

  /** Whether to replace the agent before the next seed. */
  get worn(): boolean {
    return this.#deaths >= MAX_DEATHS || this.#cases.length >= MAX_SEEDS;
  }

  /** Checks all seeds of the agent again when everything has settled, then deletes the agent. */
  async settle(): Promise<readonly SeedResult[]> {
    if (this.#agentId === '') return [];
    await sleep(SETTLED_AFTER_MS);
    // Executions still in flight at the first reading were not known then.
    for (const one of this.#cases)
      if ([...one.views.values()].some(({ status }) => status === 404)) await this.#read(one);
    const marks = await this.#recover(() => undefined);
    const results = this.#cases.map((one) => ({ ...one, broken: brokenGuarantees(this.#facts(one, marks)) }));
    await this.#guestProxy?.close();
    await eventually(
      async () => [204, 404].includes((await this.direct.call('DELETE', this.#path(''))).status),
      { timeoutMs: HEALTHY_WITHIN_MS, intervalMs: 100 },
    );
    this.#agentId = '';
    return results;
  }

  async close(): Promise<void> {
    await this.clientWire.close();
  }

  async #newAgent(): Promise<void> {
    const options = { timeoutMs: HEALTHY_WITHIN_MS, intervalMs: 200 };
    const { id } = await eventually(
      () => this.direct.runningAgent({ templateId: 'blank', idleTtlSeconds: 900 }),
      options,
    );
    this.#agentId = id;
    this.#cases = [];
    this.#deaths = 0;
    this.#guestProxy = new GuestProxy(join(this.#folder, 'run'));
  }

  #stage(): Omit<Stage, 'log'> {
    if (this.#guestProxy === undefined) throw new Error('There is no agent.');
    const { stack, locks, clientWire } = this;
    return {
      stack,
      locks,
      clientWire,
      api: this.direct,
      agentId: this.#agentId,
      guestProxy: this.#guestProxy,
      journal: join(this.#folder, 'journal'),
    };
  }

  /** Returns whether the fault struck. */
  async #submit({ plan, attempts }: Case, stage: Stage): Promise<boolean> {
    // Opened while the agent is awake, before it is put to sleep.
    await this.#guestProxy?.open().catch(() => undefined);
    const prepared = await this.#bring(plan.before);
    const fault = await prepareFaults(plan, markOf(plan.seed), stage);
    const key = plan.repeated ? crypto.randomUUID() : null;
    const one = (): Promise<void> => this.#attempt(plan, key, attempts, stage);
    if (plan.fault.kind === 'twins') await Promise.all([one(), one()]);
    else await one();
    // Half of the retries happen while the fault lasts.
    if (plan.seed % 2 === 0) await fault.end();
    if (plan.repeated && plan.stoppedBetween && !hasWorked(attempts)) {
      stage.log('stopped before it is sent again');
      await this.direct.post(this.#path('/stop')).catch(() => undefined);
    }
    for (let nth = 0; plan.repeated && nth < MAX_REPEATS && !hasWorked(attempts); nth++) {
      if (kindOf(attempts.at(-1) ?? NONE).includes('in_progress')) await sleep(250);
      else if (nth >= 3) break;
      await one();
    }
    await fault.end();
    await prepared();
    return fault.struck;
  }

  async #attempt(plan: Plan, key: string | null, attempts: Attempt[], { log }: Stage): Promise<void> {
    const open: Attempt = { executionIds: new Set() };
    attempts.push(open);
    const mark = markOf(plan.seed);
    const stops = this.stack.wires('gateway-nats').map((wire) =>
      wire.watch(mark, ({ text }) => {
        const [, id] =
          [...text.slice(0, text.indexOf(mark)).matchAll(/"commandId":"cmd_(\w+)"/g)].at(-1) ?? [];
        log(`given to exec as exe_${String(id)}`);
        open.executionIds.add(`exe_${String(id)}`);
      }),
    );
    log('submitted');
    await attempt(this.client, this.#agentId, plan, open, key);
    for (const stop of stops) stop();
    // If the bytes were lost before this connection, only the response names the execution.
    const named = namedBy(open);
    if (named !== undefined) open.executionIds.add(named);
    log(`response: ${kindOf(open)} ${open.lost ?? JSON.stringify(open.response?.body).slice(0, 200)}`);
  }

  /** Brings the agent into the state; returns a function that waits for the rest afterwards. */
  async #bring(before: Before): Promise<() => Promise<void>> {
    if (before === 'awake') return async () => undefined;
    if (before === 'restarting') {
      const restarted = this.direct.post(this.#path('/restart')).catch(() => undefined);
      // As soon as the new state is visible.
      await eventually(async () => (await this.#state()).state !== 'running', {
        timeoutMs: 1_000,
        intervalMs: 5,
      }).catch(() => undefined);
      return async () => void (await restarted);
    }
    const call = before === 'stopped' ? '/stop' : '/sleep';
    await eventually(
      async () => {
        const { status } = await this.direct.post(this.#path(call));
        const { sleepDepth } = await this.#state();
        return status === 200 && (before !== 'cold' || sleepDepth === 'cold');
      },
      { timeoutMs: HEALTHY_WITHIN_MS, intervalMs: 100 },
    );
    return async () => undefined;
  }

  /** Waits until everything works again; returns all marks in the agent's volume. */
  async #recover(log: (what: string) => void): Promise<string> {
    const marks = await eventually(
      async () => {
        const command = 'cat marks 2>/dev/null; true';
        const { status, body } = await this.direct.post(this.#path('/exec'), { command, timeout: 20 });
        if (status === 200 && body['status'] === 'completed') return String(body['stdout']);
        const agent = await this.#state();
        if (agent.state === 'stopped' || agent.state === 'failed')
          await this.direct.post(this.#path('/start'));
        throw new Error(`${String(status)} ${JSON.stringify(body)} of ${JSON.stringify(agent)}`);
      },
      { timeoutMs: HEALTHY_WITHIN_MS, intervalMs: 50 },
    );
    log('works again');
    return marks;
  }

  /**
   * Reads everything about one seed. A call whose response was lost can begin its execution after the execution was
   * read as unknown and before the journal is read, so an unknown execution with a record is read again.
   */
  async #readAll(one: Case, log: (what: string) => void): Promise<Facts> {
    await this.#read(one);
    // Calls that were still in flight have ended after this.
    const facts = this.#facts(one, await this.#recover(log));
    const begunSince = [...facts.records.keys()].some((id) => one.views.get(id)?.status === 404);
    if (!begunSince) return facts;
    log('an execution began after it was read');
    await this.#read(one);
    return this.#facts(one, await this.#recover(log));
  }

  /** Reads all executions until they have ended. */
  async #read({ attempts, views }: Case): Promise<void> {
    const ids = new Set(attempts.flatMap(({ executionIds }) => [...executionIds]));
    for (const id of ids) {
      const begun = performance.now();
      while (!(await this.#hasEnded(id, views))) {
        if (Math.min(performance.now() - begun, this.locks.quietMs) > ENDED_WITHIN_MS) break;
        await sleep(READ_AGAIN_MS);
      }
    }
  }

  async #hasEnded(id: string, views: Map<string, View>): Promise<boolean> {
    const view = await this.direct.get(this.#path(`/exec/${id}`)).catch(() => undefined);
    if (view === undefined) return false;
    const { status, body } = view;
    views.set(id, { status, body });
    return status === 404 || (status === 200 && body['status'] !== 'running');
  }

  #facts({ plan, attempts, views }: Case, allMarks: string): Facts {
    const records: [string, Exclude<ReturnType<typeof recordOf>, undefined>][] = [];
    for (const id of new Set(attempts.flatMap(({ executionIds }) => [...executionIds]))) {
      const record = recordOf(join(this.#folder, 'journal'), id);
      if (record !== undefined) records.push([id, record]);
    }
    const marks = allMarks.split('\n').filter((line) => line === markOf(plan.seed)).length;
    return { plan, attempts, views, marks, records: new Map(records) };
  }

  async #state(): Promise<{ readonly state?: string; readonly sleepDepth?: string | null }> {
    return (await this.direct.get(this.#path(''))).body;
  }

  #path(rest: string): string {
    return `/api/agents/${this.#agentId}${rest}`;
  }

  get #folder(): string {
    return join(this.stack.dataDir, 'runtime', 'agents', this.#agentId);
  }
}

const NONE: Attempt = { executionIds: new Set() };

const hasWorked = (attempts: readonly Attempt[]): boolean =>
  attempts.some(({ response }) => response !== undefined && response.status < 300);
