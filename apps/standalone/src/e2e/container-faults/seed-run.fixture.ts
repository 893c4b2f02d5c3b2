import { eventually } from '@berth/testing';
import type { ApiResponse } from '../api.fixture.js';
import type { ContainerLane } from './container-lane.fixture.js';
import { described } from './host-inventory.fixture.js';
import { act, prepare, type Subject } from './operations.fixture.js';
import { nameOf, planOf, type Plan } from './plan.fixture.js';
import { strike } from './strike.fixture.js';
import { brokenByResponse, internalsIn, leaksOf, type Timed } from './verdict.fixture.js';

/** The outcome of one seed. */
export interface SeedResult {
  readonly plan: Plan;
  readonly struck: boolean;
  readonly broken: readonly string[];
  /** What happened and when, one event a line. */
  readonly story: readonly string[];
}

/** How long the installation may take to recover once the failed part runs again. */
const RECOVERED_WITHIN_MS = 30_000;
const STABLE = ['running', 'sleeping', 'stopped', 'failed'];

interface AgentView {
  readonly state: string;
  readonly sleepDepth: string | null;
}

/** Runs one seed in an installation: the operation of its plan, the fault, and the checks afterwards. */
export class SeedRun {
  readonly #story: string[] = [];
  readonly #begun = performance.now();

  private constructor(
    private readonly lane: ContainerLane,
    private readonly plan: Plan,
  ) {}

  static async of(lane: ContainerLane, seed: number): Promise<SeedResult> {
    const plan = planOf(seed);
    const run = new SeedRun(lane, plan);
    let struck = false;
    const broken: string[] = [];
    try {
      const subject = await prepare(lane, plan);
      lane.nerdctl.arm(plan);
      const striking = strike(lane, plan, (what) => run.#log(what));
      const response = await run.#timed(act(lane, plan, subject));
      run.#log(`${String(response.status)} ${JSON.stringify(response.body).slice(0, 300)}`);
      struck = await striking;
      broken.push(...brokenByResponse(plan, response), ...(await run.#afterwards(subject, response)));
    } catch (error) {
      broken.push(`It did not recover: ${error instanceof Error ? error.message : String(error)}`);
    } finally {
      lane.nerdctl.disarm();
    }
    return { plan, struck, broken, story: run.#story };
  }

  /** Returns the problems that remain after the fault, and deletes the agents of the seed. */
  async #afterwards(subject: Subject, response: Timed): Promise<readonly string[]> {
    const { api, stack, nerdctl, containerd } = this.lane;
    const broken: string[] = [];
    const agents = await this.#agentsNamed(subject.name);
    const isThere =
      this.plan.operation === 'create' ? response.status === 201 : this.plan.operation !== 'remove';
    if (agents.length > 1 || (isThere && agents.length === 0))
      broken.push(`There are ${String(agents.length)} agents of that name.`);
    for (const id of agents) {
      await this.#untilDeployed(id);
      broken.push(...(await this.#worksAgain(id)));
      const { body } = await api.get(`/api/agents/${id}/logs?limit=1000`);
      broken.push(...internalsIn('The log', JSON.stringify(body['logs'])));
      broken.push(...leaksOf(subject.secret, { 'the log of the agent': JSON.stringify(body) }));
      await eventually(async () =>
        [204, 404].includes((await api.call('DELETE', `/api/agents/${id}`)).status),
      );
    }
    await this.#untilHostHas(0).catch((error: unknown) => {
      broken.push(`Left behind: ${error instanceof Error ? error.message : String(error)}`);
    });
    const places = {
      'the response': JSON.stringify(response.body),
      'the output of the services': stack.program.printed,
      'a command line': nerdctl.calls,
      'the log of containerd': containerd.log,
    };
    return [...broken, ...leaksOf(subject.secret, places)];
  }

  /** Checks that the API shows the state that the host has, and that the agent works after a start. */
  async #worksAgain(id: string): Promise<readonly string[]> {
    const { api } = this.lane;
    const broken: string[] = [];
    const shown = await eventually(
      async () => {
        const { body } = await api.get<AgentView & ApiResponse['body']>(`/api/agents/${id}`);
        if (!STABLE.includes(body.state)) throw new Error(`It stays ${body.state}.`);
        await this.#hostHas(body.state === 'running' || body.sleepDepth === 'warm' ? 1 : 0);
        return body;
      },
      { timeoutMs: RECOVERED_WITHIN_MS, intervalMs: 100 },
    );
    this.#log(`the agent is ${shown.state}, ${JSON.stringify(shown['lastError'])}`);
    broken.push(...internalsIn('The error of the agent', JSON.stringify(shown['lastError'])));
    await eventually(
      async () => {
        if (shown.state !== 'running') await api.post(`/api/agents/${id}/start`);
        const { status, body } = await api.post(`/api/agents/${id}/exec`, { command: 'echo works' });
        if (status !== 200 || body['stdout'] !== 'works\n')
          throw new Error(`A command returned ${String(status)} ${JSON.stringify(body)}.`);
      },
      { timeoutMs: RECOVERED_WITHIN_MS, intervalMs: 200 },
    );
    await this.#untilHostHas(1);
    return broken;
  }

  async #agentsNamed(name: string): Promise<readonly string[]> {
    return eventually(async () => {
      const { body } = await this.lane.api.get<{ items: readonly { id: string; name: string }[] }>(
        '/api/agents?limit=100',
      );
      return body.items.filter((agent) => agent.name === name).map(({ id }) => id);
    });
  }

  async #untilDeployed(id: string): Promise<void> {
    await eventually(
      async () => {
        const { body } = await this.lane.api.get<{ items: readonly { status: string }[] }>(
          `/api/agents/${id}/deployments`,
        );
        const open = body.items.find(({ status }) => status === 'queued' || status === 'building');
        if (open !== undefined) throw new Error(`A deployment stays ${open.status}.`);
      },
      { timeoutMs: 60_000, intervalMs: 100 },
    );
  }

  #untilHostHas(containers: number): Promise<void> {
    return eventually(async () => this.#hostHas(containers), {
      timeoutMs: RECOVERED_WITHIN_MS,
      intervalMs: 200,
    });
  }

  /** Throws unless the host has exactly this many containers, each with its shim, volume and so on, and nothing else. */
  async #hostHas(containers: number): Promise<void> {
    const { inventory } = this.lane;
    const has = (kind: string): number => inventory[kind]?.length ?? 0;
    const each = [
      'containers',
      'shims',
      'root file systems',
      'volumes',
      'loop devices',
      'network interfaces',
    ];
    const isExact =
      containers === 0 ? described(inventory).length === 0 : each.every((kind) => has(kind) === containers);
    if (!isExact) throw new Error(`The host has ${described(inventory).join(', ') || 'nothing'}.`);
  }

  async #timed(call: Promise<ApiResponse>): Promise<Timed> {
    const since = performance.now();
    return { ...(await call), ms: performance.now() - since };
  }

  #log(what: string): void {
    this.#story.push(`${(performance.now() - this.#begun).toFixed(0)} ms: ${what}`);
  }
}

/** The problems and events of a seed, as the text of a failed assertion. */
export const storyOf = ({ plan, broken, story }: SeedResult): string =>
  [`seed ${String(plan.seed)} (${nameOf(plan)}): ${broken.join(' ')}`, ...story].join('\n  ');

/** Runs the seeds in all installations concurrently, in each one at a time. Returns the results in the order of the seeds. */
export const runSeeds = async (
  lanes: readonly ContainerLane[],
  seeds: readonly number[],
  onResult: (result: SeedResult) => void = () => undefined,
): Promise<readonly SeedResult[]> => {
  const results: SeedResult[] = [];
  const waiting = [...seeds];
  await Promise.all(
    lanes.map(async (lane) => {
      for (let seed = waiting.shift(); seed !== undefined; seed = waiting.shift()) {
        const result = await SeedRun.of(lane, seed);
        results.push(result);
        onResult(result);
      }
    }),
  );
  return results.toSorted((one, other) => one.plan.seed - other.plan.seed);
};
