import { join } from 'node:path';
import { acquireDataLock, ensurePrivateFolder, isFree, LOOPBACK } from '@berth/host-requirements';
import { StoredPorts } from './data-folder/ports.js';
import { readOrGenerateSecrets } from './data-folder/secrets.js';
import { planEventStore } from './event-store-part.js';
import { planNats, type NatsPlan } from './nats/nats-part.js';
import { HostAccess, SERVICE_ACCESS, type ServiceName } from '@berth/broker-users';
import type { BrokerScope, PartContext, PartPlan } from './part.js';
import { planPostgres } from './postgres/postgres-part.js';
import type { EmbeddedLog } from './supervision/embedded-log.js';
import { reclaimOrphan } from './supervision/orphans.js';
import { SupervisedProcess } from './supervision/supervised-process.js';

/** The data folder, and the URLs of parts that already run elsewhere. */
export interface EmbeddedOptions {
  readonly dataDir: string;
  readonly natsUrl?: string | undefined;
  readonly eventStoreUrl?: string | undefined;
  readonly databaseUrl?: string | undefined;
  /** The installation's name on the broker; default `berth`. */
  readonly instance?: string | undefined;
  /** Ids of the runtime hosts that use the broker as the service `runtime`. */
  readonly hosts?: readonly string[];
  /** The address that the broker listens on; default 127.0.0.1. */
  readonly brokerHost?: string;
  readonly log: EmbeddedLog;
}

/** A part that runs as a child process. `pid` is undefined while it is down; it is restarted on the same port. */
export interface EmbeddedPart {
  readonly pid: number | undefined;
  readonly port: number;
  kill(signal?: NodeJS.Signals): boolean;
}

/** The running infrastructure. A part that was given by URL is not in `parts`. URLs contain passwords. */
export interface EmbeddedInfrastructure {
  /** The embedded broker with a user that has all permissions. */
  readonly natsUrl: string;
  /** The broker with the user of one service, which has only the permissions that the service needs. */
  natsUrlOf(service: ServiceName): string;
  /** Broker users of further hosts; undefined if the broker was given by URL. */
  readonly hostAccess: HostAccess | undefined;
  readonly eventStoreUrl: string;
  readonly databaseUrl: string;
  readonly parts: {
    readonly nats?: EmbeddedPart;
    readonly eventStore?: EmbeddedPart;
    readonly postgres?: EmbeddedPart;
  };
  /** Ends every part (in parallel, under 7 s each) and unlocks the data folder. Idempotent. */
  stop(): Promise<void>;
}

interface RunningPart extends EmbeddedPart {
  readonly url: string;
  serviceUrl(service: ServiceName): string;
  stop(): Promise<void>;
}

const PORT_ATTEMPTS = 3;

/**
 * Starts the broker, the event log and the database in parallel, each unless its URL is given, and resolves when all of
 * them respond. Every part listens on 127.0.0.1 only (the broker on `brokerHost`), keeps its data, log and port under
 * `dataDir`, is restarted when it dies, and dies with this process; a part that survives anyway is ended by the next
 * start on the same folder. Locks the folder: throws `DataFolderInUseError` when another process has it. When one part fails, the others are stopped
 * and that part's error is thrown. Call from the main thread.
 */
export async function startEmbedded(options: EmbeddedOptions): Promise<EmbeddedInfrastructure> {
  const lock = acquireDataLock(options.dataDir);
  const folder = join(lock.dataDir, 'embedded');
  ensurePrivateFolder(folder);
  ensurePrivateFolder(join(lock.dataDir, 'logs'));
  const context: PartContext = {
    dataDir: lock.dataDir,
    secrets: readOrGenerateSecrets(folder, Object.keys(SERVICE_ACCESS)),
    broker: scopeOf(options),
    log: options.log,
  };
  const ports = new StoredPorts(folder);
  const start = async (url: string | undefined, plan: () => PartPlan | Promise<PartPlan>) =>
    url === undefined ? startPart(await plan(), context, ports) : undefined;
  let broker: NatsPlan | undefined;
  const outcomes = await Promise.allSettled([
    start(options.natsUrl, async () => (broker = await planNats(context))),
    start(options.eventStoreUrl, () => planEventStore(context)),
    start(options.databaseUrl, () => planPostgres(context)),
  ]);
  const started = outcomes.map((outcome) => (outcome.status === 'fulfilled' ? outcome.value : undefined));
  const stop = stopOnce(started, () => lock.release());
  const failure = outcomes.find((outcome) => outcome.status === 'rejected');
  if (failure) {
    await stop();
    throw failure.reason;
  }
  const [nats, eventStore, postgres] = started;
  return {
    natsUrl: options.natsUrl ?? nats?.url ?? '',
    natsUrlOf: (service) => options.natsUrl ?? nats?.serviceUrl(service) ?? '',
    hostAccess: hostAccessOf(broker, nats),
    eventStoreUrl: options.eventStoreUrl ?? eventStore?.url ?? '',
    databaseUrl: options.databaseUrl ?? postgres?.url ?? '',
    parts: {
      ...(nats ? { nats } : {}),
      ...(eventStore ? { eventStore } : {}),
      ...(postgres ? { postgres } : {}),
    },
    stop,
  };
}

function scopeOf({ instance = 'berth', hosts = [], brokerHost = LOOPBACK }: EmbeddedOptions): BrokerScope {
  return { instance, hosts, listenOn: brokerHost };
}

function hostAccessOf(plan: NatsPlan | undefined, nats: RunningPart | undefined): HostAccess | undefined {
  if (plan === undefined || nats === undefined) return undefined;
  const { hostUsers, dataAuthority, addressOf, writeConfig } = plan;
  return new HostAccess(hostUsers, dataAuthority, {
    address: addressOf(nats.port),
    reload: () => {
      writeConfig();
      // While it is down, its next start reads the file.
      nats.kill('SIGHUP');
    },
  });
}

function stopOnce(parts: readonly (RunningPart | undefined)[], afterwards: () => void): () => Promise<void> {
  let stopped: Promise<void> | undefined;
  return () =>
    (stopped ??= Promise.allSettled(parts.map((part) => part?.stop())).then((outcomes) => {
      afterwards();
      const failure = outcomes.find((outcome) => outcome.status === 'rejected');
      if (failure) throw failure.reason;
    }));
}

async function startPart(plan: PartPlan, context: PartContext, ports: StoredPorts): Promise<RunningPart> {
  const pidFile = join(context.dataDir, 'embedded', `${plan.name}.pid.json`);
  // Before choosing the port, which an orphan may still hold.
  await endOrphan(plan, pidFile, context.log);
  for (let attempt = 1; ; attempt += 1) {
    const port = await ports.portFor(plan.name);
    const logFile = join(context.dataDir, 'logs', `${plan.name}.log`);
    const process = new SupervisedProcess(
      { ...plan.spec(port), name: plan.name, ending: plan.ending, logFile, pidFile },
      context.log,
    );
    try {
      await process.start();
      await plan.afterStart?.(port);
    } catch (error) {
      await process.stop();
      // Another process may have taken the port since it was chosen.
      if (attempt < PORT_ATTEMPTS && !(await isFree(port))) continue;
      throw error;
    }
    return {
      url: plan.url(port),
      serviceUrl: (service) => plan.serviceUrl?.(port, service) ?? plan.url(port),
      port,
      get pid() {
        return process.pid;
      },
      kill: (signal) => process.kill(signal),
      stop: () => process.stop(),
    };
  }
}

async function endOrphan(plan: PartPlan, pidFile: string, log: EmbeddedLog): Promise<void> {
  const pid = await reclaimOrphan(pidFile, plan.ending);
  if (pid !== undefined)
    log.warn({ part: plan.name, pid }, 'ended a process that an earlier run left behind');
}
