import 'reflect-metadata';
import { brokerOf, Requester, startService } from '@berth/messaging';
import { openLink } from '@berth/service';
import type { Logger } from '@berth/telemetry';
import { readTemplates } from '@berth/templates';
import { AgentRecords } from './agent/agent-record.js';
import { AgentStarter } from './agent/agent-starter.js';
import { HostedAgents } from './agent/hosted-agents.js';
import { AppModule } from './app.module.js';
import type { RuntimeConfig } from './config.js';
import { Deliveries } from './delivery/deliveries.js';
import { DeliveryJournal } from './delivery/delivery-journal.js';
import { ExecutionJournal } from './execution/execution-journal.js';
import { HostExecutions } from './execution/host-executions.js';
import { hostId } from './host-id.js';
import { AgentLogs } from './logs/agent-logs.js';
import { SystemLog } from './logs/system-log.js';
import { ActivityReporter } from './report/activity-reporter.js';
import { HostAnnouncer } from './report/host-announcer.js';
import { HostLog } from './report/host-log.js';
import { ObservationReporter } from './report/observation-reporter.js';
import { DataPort } from './transfer/data-port.js';
import { Transfers } from './transfer/transfers.js';

export interface RunningRuntime {
  readonly name: string;
  /** `hst_…`. */
  readonly host: string;
  /** Ends every agent (TERM, 2 s, KILL), then the service; takes at most about 5 s. */
  stop(): Promise<void>;
}

const SHUTDOWN_GRACE_MS = 2_000;
const LAST_WORDS_MS = 1_000;

/** Starts the runtime of this host: first takes over its agents, then accepts requests. */
export const startRuntime = async (config: RuntimeConfig, log: Logger): Promise<RunningRuntime> => {
  const { dataDir, templateFolders, restart, gatewayUrl } = config;
  const host = await hostId(dataDir, config.hostId);
  const templates = new Map(
    (await readTemplates(templateFolders)).map((template) => [template.id, template]),
  );
  const driver = config.createDriver({ ...config, log });
  await driver.open();
  const link = await openLink({ ...brokerOf(config), name: `runtime-${host}`, log });
  const requester = new Requester(link);
  const observations = new ObservationReporter(host, requester, log);
  const activities = new ActivityReporter(host, requester);
  const agents = new HostedAgents({
    driver,
    starter: new AgentStarter(driver, { dataDir, templates, restart, gatewayUrl }),
    records: new AgentRecords(dataDir),
    systemLog: new SystemLog(dataDir),
    observations,
    activities,
    log,
  });
  await agents.open();
  const logs = new AgentLogs(dataDir);
  const deliveries = new Deliveries(agents, new DeliveryJournal(dataDir));
  const executions = new HostExecutions(agents, new ExecutionJournal(dataDir));
  const transfers = new Transfers(agents);
  const dataPort = new DataPort(transfers, log);
  await dataPort.listen(config.dataPort);
  const module = AppModule.forRoot({
    host,
    driver,
    agents,
    logs,
    deliveries,
    executions,
    transfers,
    dataPort,
  });
  const service = await startService({ name: 'runtime', module, link, host, log });
  const stopping = new AbortController();
  const announcing = new HostAnnouncer(host, agents, driver, requester, await HostLog.open(dataDir), log).run(
    link,
    stopping.signal,
  );
  const stop = async (): Promise<void> => {
    stopping.abort();
    logs.close();
    const ended = await agents.shutDown(SHUTDOWN_GRACE_MS);
    await Promise.all([observations.lastWords(ended, LAST_WORDS_MS), service.stop(), dataPort.close()]);
    observations.stop();
    activities.stop();
    await Promise.all([announcing, driver.close()]);
    await link.close();
  };
  let stopped: Promise<void> | undefined;
  return { name: 'runtime', host, stop: () => (stopped ??= stop()) };
};
