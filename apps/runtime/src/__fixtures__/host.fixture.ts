import { parseOperatorFile } from '@berth/operator-file';
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import type { ReportObservation } from '@berth/contracts/hosting';
import type { ChangeFile, FileChange, StartAgent, Transfer } from '@berth/contracts/runtime';
import type { DeliverToProgram } from '@berth/guest-protocol';
import { newId } from '@berth/kernel';
import { createLogger } from '@berth/telemetry';
import type { ServerCertificate } from '@berth/sockets';
import { request, type Dispatcher } from 'undici';
import type { ActivityView } from '../agent/activity.js';
import { agentFolders } from '../agent/agent-folders.js';
import { AgentRecords } from '../agent/agent-record.js';
import { AgentStarter } from '../agent/agent-starter.js';
import { StartCodes } from '../agent/start-codes.js';
import { ApiSockets } from '../api/api-sockets.js';
import { VersionStore } from '../build/version-store.js';
import { HostTemplates } from '../agent/host-templates.js';
import { HostedAgents } from '../agent/hosted-agents.js';
import { Deliveries } from '../delivery/deliveries.js';
import { DeliveryJournal } from '../delivery/delivery-journal.js';
import { ProcessDriver, type ProcessDriverOptions } from '../driver/process/process.driver.js';
import { ExecutionJournal } from '../execution/execution-journal.js';
import { HostExecutions } from '../execution/host-executions.js';
import { AgentLogs } from '../logs/agent-logs.js';
import { SystemLog } from '../logs/system-log.js';
import { DataPort } from '../transfer/data-port.js';
import { Transfers } from '../transfer/transfers.js';
import { TransfersNatsController } from '../transfer/transfers.nats-controller.js';
import { TransferTickets } from '../transfer/transfer-tickets.js';

/** Ticket lifetime: long enough for a slow machine to redeem one, short enough for a test to see one expire. */
export const TICKET_LIFETIME_MS = 2_000;
const root = join(import.meta.dirname, '../../../..');
export const SHIPPED_TEMPLATES = join(root, 'infra/templates');
export const TEST_TEMPLATES = join(import.meta.dirname, 'templates');
export const GUEST_MAIN = createRequire(import.meta.url).resolve('@berth/guest/main');

export const quietLog = createLogger({ service: 'test', level: 'silent' });

/** Differences from the usual start request; `templateId` sets the source. */
export type RecipeChanges = Partial<StartAgent> & { readonly templateId?: string };

/** A host of agents with real guests and programs. It records its reports instead of sending them to other services. */
export class HostFixture {
  readonly reports: { agentId: string; epoch: number; observation: ReportObservation['observation'] }[] = [];
  readonly activities = new Map<string, ActivityView>();
  readonly logs: AgentLogs;
  readonly deliveries: Deliveries;
  readonly executions: HostExecutions;
  readonly transfers: Transfers;
  readonly dataPort: DataPort;

  private constructor(
    readonly dataDir: string,
    private readonly outsideDir: string,
    readonly driver: ProcessDriver,
    readonly agents: HostedAgents,
    tls: ServerCertificate | undefined,
  ) {
    this.logs = new AgentLogs({ dataDir }, agents);
    this.deliveries = new Deliveries(agents, new DeliveryJournal({ dataDir }));
    this.executions = new HostExecutions(agents, new ExecutionJournal({ dataDir }));
    this.transfers = new Transfers(agents, new TransferTickets(TICKET_LIFETIME_MS));
    this.dataPort = new DataPort(
      this.transfers,
      { dataPort: { host: '127.0.0.1', port: 0, url: undefined, tls } },
      quietLog,
    );
  }

  static async open(
    options: {
      dataDir?: string;
      features?: ProcessDriverOptions['features'];
      gatewayUrl?: string;
      tls?: ServerCertificate | undefined;
    } = {},
  ): Promise<HostFixture> {
    const dataDir = options.dataDir ?? mkdtempSync(join(tmpdir(), 'berth-host-'));
    const outsideDir = mkdtempSync(join(tmpdir(), 'berth-outside-'));
    chmodSync(outsideDir, 0o755);
    const driver = new ProcessDriver({
      dataDir,
      guestMain: GUEST_MAIN,
      uidBase: undefined,
      outsideDir,
      ...(options.features === undefined ? {} : { features: options.features }),
      log: quietLog,
    });
    await driver.open();
    const templates = await HostTemplates.read([SHIPPED_TEMPLATES, TEST_TEMPLATES]);
    const restart = { maxDeaths: 3, windowMs: 60_000, maxEarlyDeaths: 2 };
    const agents: HostedAgents = new HostedAgents(
      driver,
      new AgentStarter(
        driver,
        new StartCodes(templates, new VersionStore(driver, { dataDir })),
        new ApiSockets({ gatewayUrl: options.gatewayUrl ?? null }, quietLog),
        { dataDir, restart, operator: { current: parseOperatorFile('') } },
      ),
      new AgentRecords({ dataDir }),
      new SystemLog({ dataDir }),
      {
        observations: {
          report: (agentId, epoch, observation) => void fixture.reports.push({ agentId, epoch, observation }),
        },
        activities: { note: (agentId, view) => void fixture.activities.set(agentId, view) },
        polls: { follow: () => Promise.resolve() },
      },
      quietLog,
    );
    const fixture = new HostFixture(dataDir, outsideDir, driver, agents, options.tls);
    await agents.open();
    await fixture.dataPort.listen();
    return fixture;
  }

  /** A start request; the agent id is new unless `changes` sets one. */
  static recipe({ templateId = 'echo', ...changes }: RecipeChanges = {}): StartAgent {
    return {
      agentId: newId('agt'),
      epoch: 1,
      accountId: newId('acc'),
      source: { kind: 'template', version: 1, name: templateId },
      env: { API_KEY: 'sesame-open' },
      secretKeys: ['API_KEY'],
      token: 'token-of-this-start',
      instructions: null,
      resources: { memMb: 256, vcpus: 0.5, diskGb: 1 },
      idleTtlSeconds: 0,
      deadlineMs: 20_000,
      ...changes,
    };
  }

  /** A start request of a computer. */
  static computer(changes: RecipeChanges = {}): StartAgent {
    return HostFixture.recipe({
      agentId: newId('cmp'),
      source: { kind: 'desktop', version: 1 },
      env: {},
      secretKeys: [],
      token: '',
      resources: { memMb: 2_048, vcpus: 2, diskGb: 10 },
      desktop: { width: 1_280, height: 800 },
      ...changes,
    });
  }

  async deliver(
    agentId: string,
    epoch: number,
    message: string,
    deliveryId = newId('dlv'),
    more: Pick<DeliverToProgram, 'source'> = {},
  ): Promise<string> {
    const request = { deliveryId, conversationId: 'cnv_1', message, ...more };
    return (await this.agents.of(agentId).awakeAt(epoch).deliver(request)).response;
  }

  /** Sends one request with a ticket for a transfer. */
  async transfer(
    agentId: string,
    epoch: number,
    transfer: Transfer,
    init: { method?: string; body?: string | Buffer | Readable; headers?: Record<string, string> } = {},
  ): Promise<Dispatcher.ResponseData> {
    const ticket = this.transfers.open({ agentId, epoch, transfer });
    return this.redeem(ticket, init);
  }

  async redeem(
    ticket: string,
    init: { method?: string; body?: string | Buffer | Readable; headers?: Record<string, string> } = {},
  ): Promise<Dispatcher.ResponseData> {
    const { method = 'GET', headers = {}, body = null } = init;
    return request(this.dataPort.url, {
      method: method as Dispatcher.HttpMethod,
      body,
      headers: { ...headers, authorization: `Bearer ${ticket}` },
    });
  }

  changeFile(change: ChangeFile): Promise<FileChange> {
    return new TransfersNatsController(this.agents, this.transfers, this.dataPort).changeFile(change);
  }

  /** Path of the socket of an agent's guest. */
  socketOf(agentId: string): string {
    return join(agentFolders(this.dataDir, agentId).run, 'guest.sock');
  }

  /** Ends all processes and removes the host's folder. */
  async destroy(): Promise<void> {
    await Promise.all([this.agents.shutDown(0), this.dataPort.close()]);
    await this.driver.close();
    for (const folder of [this.dataDir, this.outsideDir]) rmSync(folder, { recursive: true, force: true });
  }
}
