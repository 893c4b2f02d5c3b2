import { failed, ok, warning, type DoctorCheck } from './doctor-check.js';

const RESPONSE_WITHIN_MS = 3_000;

/** Whether Berth runs at `url`, and what its `/health` says. */
export interface RunningBerth {
  readonly isRunning: boolean;
  readonly check: DoctorCheck;
}

/** `mustRun`: the operator has named this URL, so that no Berth there is a failure. */
export const runningBerth = async (url: string, mustRun: boolean): Promise<RunningBerth> => {
  const health = await readHealth(url);
  if (health === undefined) {
    const check = mustRun
      ? failed('health', `No Berth responds at ${url}: start it, or correct BERTH_URL.`)
      : ok('health', 'Berth does not run');
    return { isRunning: false, check };
  }
  const { status, version, dependencies } = health;
  const broken = Object.entries(dependencies).filter(([, state]) => state !== 'ok');
  const found = `${status}, version ${version}, at ${url}`;
  const parts = broken.map(([name, state]) => `${name} ${state}`).join(', ');
  const see = `${found}${parts === '' ? '' : `; ${parts}`}: see the log of Berth.`;
  if (status === 'ok') return { isRunning: true, check: ok('health', found) };
  return { isRunning: true, check: status === 'degraded' ? warning('health', see) : failed('health', see) };
};

interface Health {
  readonly status: string;
  readonly version: string;
  readonly dependencies: Readonly<Record<string, string>>;
}

const readHealth = async (url: string): Promise<Health | undefined> => {
  try {
    const signal = AbortSignal.timeout(RESPONSE_WITHIN_MS);
    const body: unknown = await (await fetch(`${url}/health`, { redirect: 'error', signal })).json();
    return isHealth(body) ? body : undefined;
  } catch {
    return undefined;
  }
};

const isHealth = (body: unknown): body is Health =>
  typeof body === 'object' &&
  body !== null &&
  'status' in body &&
  'version' in body &&
  'dependencies' in body &&
  typeof body.dependencies === 'object';
