import type { ServiceHealth } from '@berth/contracts/operations';
import type { HostView } from '@berth/contracts/runtime';

/** `degraded`: some probes got a response; `unknown`: no service that uses the dependency responded. */
export type DependencyState = 'ok' | 'degraded' | 'down' | 'unknown';

export const DISK_HEALTH = ['ok', 'low', 'full', 'unknown'] as const;
export type DiskHealth = (typeof DISK_HEALTH)[number];

/** `GET /health`. */
export interface HealthView {
  readonly status: 'ok' | 'degraded' | 'unavailable';
  /** The runtime's driver. */
  readonly runtime: string;
  readonly version: string;
  readonly dependencies: {
    readonly nats: DependencyState;
    readonly eventStore: DependencyState;
    readonly postgres: DependencyState;
    readonly runtime: DependencyState;
  };
  /** `low`: more than 90 % of a disk of the service is used; `full`: changes are refused; `unknown`: nobody reports it. */
  readonly disk: DiskHealth;
  /** Events that a consumer could not handle; null while they cannot be counted. */
  readonly deadLetters: number | null;
}

/** A response; `absent` if the broker has no responder; `silent` if none came in time. */
export type ProbeResponse<Res> = Res | 'absent' | 'silent';

/** The responses of one round of probes. */
export interface ProbeResults {
  /** Whether the link to the broker is up. */
  readonly connected: boolean;
  /** Whether the connected server accepts messages of the required size. */
  readonly takesOurMessages: boolean;
  /** Whether the gateway's own tables responded. */
  readonly postgres: boolean;
  /** The disk of BERTH_DATA; null if the gateway has no such folder. */
  readonly disk: 'ok' | 'low' | 'full' | null;
  readonly host: ProbeResponse<HostView>;
  readonly services: { readonly [name: string]: ProbeResponse<ServiceHealth> };
}

/** The result of one round of probes per dependency. */
export const healthOf = (
  results: ProbeResults,
  facts: { readonly version: string; readonly driver: string },
): HealthView => {
  const { host } = results;
  const services = Object.values(results.services);
  const responded = services.filter((response): response is ServiceHealth => typeof response !== 'string');
  const dependencies = {
    nats: natsOf(results, responded),
    eventStore: stateOf(responded.map(({ eventStore }) => eventStore)),
    postgres: results.postgres
      ? stateOf([true, ...responded.map(({ postgres }) => postgres)])
      : ('down' as const),
    runtime: typeof host === 'string' ? ('down' as const) : ('ok' as const),
  };
  const counts = responded.map(({ deadLetters }) => deadLetters);
  const disk = diskOf(results);
  const uncounted = responded.length < services.length || counts.includes(null);
  return {
    status: statusOf(
      results,
      dependencies,
      disk !== 'full' && responded.length === services.length && responded.every(worksFully),
    ),
    runtime: typeof host === 'string' ? facts.driver : host.driver,
    version: facts.version,
    dependencies,
    disk,
    deadLetters: uncounted ? null : counts.reduce<number>((sum, count) => sum + (count ?? 0), 0),
  };
};

/**
 * A probe without a response was lost, or its service hangs. The gateway cannot tell which: a frozen node of a cluster
 * looks the same.
 */
const natsOf = (
  { connected, takesOurMessages, services, host }: ProbeResults,
  responded: readonly ServiceHealth[],
): DependencyState => {
  const responses = [...Object.values(services), host];
  if (!connected || responses.every((response) => response === 'silent')) return 'down';
  if (
    !takesOurMessages ||
    responses.includes('silent') ||
    responded.some(({ jetStream }) => jetStream === false)
  )
    return 'degraded';
  return 'ok';
};

const diskOf = ({ disk, host }: ProbeResults): DiskHealth => {
  const reports = [disk, typeof host === 'string' ? null : (host.disk ?? null)];
  return (['full', 'low', 'ok'] as const).find((state) => reports.includes(state)) ?? 'unknown';
};

/** null: the service does not use the dependency. */
const stateOf = (responses: readonly (boolean | null)[]): DependencyState => {
  const responded = responses.filter((response) => response !== null);
  if (responded.length === 0) return 'unknown';
  if (responded.every((response) => response)) return 'ok';
  return responded.includes(true) ? 'degraded' : 'down';
};

/** Whether its projections, relay, consumers and timers run. */
const worksFully = ({ failing = [] }: ServiceHealth): boolean => failing.length === 0;

/** Every request goes over the broker, and every key is looked up by `accounts`, which may be down or hang. */
const statusOf = (
  { postgres, services }: ProbeResults,
  dependencies: HealthView['dependencies'],
  servicesWork: boolean,
): HealthView['status'] => {
  const { accounts } = services;
  const keysAreKnown = typeof accounts === 'object' && accounts.postgres !== false;
  if (dependencies.nats === 'down' || !postgres || !keysAreKnown) return 'unavailable';
  const isOk = servicesWork && Object.values(dependencies).every((state) => state === 'ok');
  return isOk ? 'ok' : 'degraded';
};
