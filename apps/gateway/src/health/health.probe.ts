import { operationsRequests, SERVICES, type ServiceHealth } from '@berth/contracts/operations';
import { runtimeRequests } from '@berth/contracts/runtime';
import { isDomainError, type RequestDefinition } from '@berth/kernel';
import { diskSpace, type DiskState } from '@berth/host-requirements';
import { NatsLink, Requester, takesOurMessages } from '@berth/messaging';
import { Database } from '@berth/persistence';
import { Logger } from '@berth/telemetry';
import { Injectable } from '@nestjs/common';
import { GatewayConfig } from '../config.js';
import { gatewayVersion } from '../version.js';
import { healthOf, type ProbeResponse, type ProbeResults, type HealthView } from './health.view.js';

export interface StaticHealth {
  readonly version: string;
  /** The value of `runtime` while no host responds. */
  readonly driver: string;
}

/** A dependency that has not responded by then is not `ok`, so that health responds within 1 s. */
const PROBE_TIMEOUT_MS = 900;

/** The endpoint is public; dependencies are queried no more often than this. */
const CACHE_MS = 500;

/** Sends a real request to every dependency of the gateway, in one round for all concurrent callers. */
@Injectable()
export class HealthProbe {
  readonly #facts: StaticHealth;
  private readonly dataDir: string;
  #running: Promise<HealthView> | undefined;
  #logged = '';

  constructor(
    private readonly link: NatsLink,
    private readonly database: Database,
    private readonly requester: Requester,
    config: GatewayConfig,
    private readonly log: Logger,
  ) {
    this.#facts = { version: gatewayVersion(), driver: config.runtime };
    this.dataDir = config.dataDir;
  }

  check(): Promise<HealthView> {
    this.#running ??= this.#probe().finally(() => {
      setTimeout(() => (this.#running = undefined), CACHE_MS).unref();
    });
    return this.#running;
  }

  async #probe(): Promise<HealthView> {
    const [postgres, host, ...services] = await Promise.all([
      resolvesInTime(this.database.ping()),
      this.#query(runtimeRequests.hosts),
      ...SERVICES.map((service) => this.#query<ServiceHealth>(operationsRequests(service).health)),
    ]);
    const results: ProbeResults = {
      connected: this.link.connected,
      takesOurMessages: takesOurMessages(this.link),
      postgres,
      disk: diskOf(this.dataDir),
      host,
      services: Object.fromEntries(SERVICES.map((name, index) => [name, services[index] ?? 'silent'])),
    };
    const view = healthOf(results, this.#facts);
    this.#logChange(view, results);
    return view;
  }

  async #query<Res>(definition: RequestDefinition<Record<string, never>, Res>): Promise<ProbeResponse<Res>> {
    try {
      return await this.requester.request(definition, {}, { deadlineMs: PROBE_TIMEOUT_MS });
    } catch (error) {
      return isDomainError(error, 'unavailable') && this.link.connected ? 'absent' : 'silent';
    }
  }

  /** Callers learn which dependency fails; only the log contains details. */
  #logChange({ status, dependencies, disk }: HealthView, results: ProbeResults): void {
    const now = JSON.stringify({ status, dependencies, disk });
    if (now === this.#logged) return;
    const first = this.#logged === '';
    this.#logged = now;
    if (status !== 'ok')
      this.log.warn({ status, dependencies, disk, results }, 'Not every dependency is healthy.');
    else if (!first) this.log.info('Every dependency is healthy again.');
  }
}

const diskOf = (folder: string): DiskState | null => {
  try {
    return diskSpace(folder).state;
  } catch {
    return null;
  }
};

/** Whether `probe` resolves in time. */
const resolvesInTime = async (probe: Promise<void>): Promise<boolean> => {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<boolean>((resolve) => {
    timer = setTimeout(() => resolve(false), PROBE_TIMEOUT_MS);
  });
  const inTime = probe.then(
    () => true,
    () => false,
  );
  return Promise.race([inTime, late]).finally(() => clearTimeout(timer));
};
