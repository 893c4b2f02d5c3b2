import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { agentsRequests } from '@berth/contracts/agents';
import type { AnnounceHost, HostOrders, ReportActivity, ReportObservation } from '@berth/contracts/hosting';
import { runtimeRequests, type StartAgent } from '@berth/contracts/runtime';
import { HandleRequest, NatsLink, Requester, startService, type RunningService } from '@berth/messaging';
import { eventually, programArguments, startTestInfra, type TestInfra } from '@berth/testing';
import { Controller, Module } from '@nestjs/common';
import { HostFixture, quietLog, SHIPPED_TEMPLATES, TEST_TEMPLATES } from './host.fixture.js';

const PAGE_BYTES = 4_096;

/** The reports of hosts, and the orders that the fake `agents` returns to them. */
export const received = {
  announcements: [] as AnnounceHost[],
  observations: [] as ReportObservation[],
  activities: [] as ReportActivity['items'][number][],
  orders: { remove: [] as string[], stop: [] as string[] },
  rejecting: false,
  refused: 0,
};

/** Fakes the service `agents`. */
@Controller()
class Agents {
  @HandleRequest(agentsRequests.announceHost)
  async announce(request: AnnounceHost): Promise<HostOrders> {
    received.announcements.push(request);
    return { ...received.orders, logId: 'log_1' };
  }

  @HandleRequest(agentsRequests.reportObservation)
  async observe(request: ReportObservation): Promise<Record<string, never>> {
    if (received.rejecting) {
      received.refused += 1;
      throw new Error('not now');
    }
    received.observations.push(request);
    return {};
  }

  @HandleRequest(agentsRequests.reportActivity)
  async activity(request: ReportActivity): Promise<Record<string, never>> {
    received.activities.push(...request.items);
    return {};
  }
}

@Module({ controllers: [Agents] })
class AgentsModule {}

/** A runtime in its own process, a broker, and a fake `agents` that records its reports. */
export class RuntimeFixture {
  readonly requester: Requester;
  dataDir = '';
  host = '';
  #runtime: ChildProcess | undefined;

  private constructor(
    readonly infra: TestInfra,
    readonly link: NatsLink,
    private readonly agents: RunningService,
  ) {
    this.requester = new Requester(link);
  }

  static async open(): Promise<RuntimeFixture> {
    const infra = await startTestInfra({ parts: ['nats'] });
    const link = await NatsLink.open({ url: infra.natsUrl, name: 'test', log: quietLog });
    const agents = await startService({ name: 'agents', module: AgentsModule, link, log: quietLog });
    return new RuntimeFixture(infra, link, agents);
  }

  async close(): Promise<void> {
    await this.agents.stop();
    await this.link.close();
    await this.infra.stop();
  }

  /** Starts with a new host. */
  async begin(): Promise<void> {
    Object.assign(received, {
      announcements: [],
      observations: [],
      activities: [],
      orders: { remove: [], stop: [] },
      rejecting: false,
      refused: 0,
    });
    this.dataDir = mkdtempSync(join(tmpdir(), 'berth-host-'));
    await this.launch();
  }

  async finish(): Promise<void> {
    await this.end('SIGTERM');
    rmSync(this.dataDir, { recursive: true, force: true });
  }

  /** Starts the runtime on the data folder of an earlier one. */
  async launch(): Promise<void> {
    const announcements = received.announcements.length;
    this.#runtime = spawn(process.execPath, programArguments('runtime'), {
      // The fourth descriptor imitates one that a shell or a supervisor leaves open.
      stdio: ['ignore', 'ignore', 'inherit', 'pipe'],
      env: {
        PATH: process.env['PATH'],
        NODE_COMPILE_CACHE: process.env['NODE_COMPILE_CACHE'],
        NATS_URL: this.infra.natsUrl,
        BERTH_RUNTIME_DATA: this.dataDir,
        BERTH_SHIPPED_TEMPLATES_DIR: SHIPPED_TEMPLATES,
        BERTH_TEMPLATES_DIR: TEST_TEMPLATES,
        BERTH_LOG_LEVEL: 'silent',
      },
    });
    await eventually(() => received.announcements.length > announcements, { timeoutMs: 15_000 });
    this.host = received.announcements.at(-1)?.host ?? '';
  }

  /** Resident memory of the runtime's process in bytes. */
  memory(): number {
    const pages = readFileSync(`/proc/${this.#runtime?.pid}/statm`, 'utf8').split(' ')[1];
    return Number(pages) * PAGE_BYTES;
  }

  async end(signal: NodeJS.Signals): Promise<void> {
    const running = this.#runtime;
    this.#runtime = undefined;
    if (running === undefined) return;
    const exited = once(running, 'exit');
    running.kill(signal);
    await exited;
  }

  start(changes: Parameters<typeof HostFixture.recipe>[0] = {}): Promise<string> {
    return this.#start(HostFixture.recipe(changes));
  }

  startComputer(changes: Parameters<typeof HostFixture.computer>[0] = {}): Promise<string> {
    return this.#start(HostFixture.computer(changes));
  }

  /** Whether the host has a box with that id. */
  async has(agentId: string): Promise<boolean> {
    const usage = this.requester.request(runtimeRequests.usage, { agentId }, { host: this.host });
    return usage.then(
      ({ startedAt }) => startedAt !== null,
      () => false,
    );
  }

  async #start(recipe: StartAgent): Promise<string> {
    await this.requester.request(runtimeRequests.start, recipe, { host: this.host });
    return recipe.agentId;
  }
}
