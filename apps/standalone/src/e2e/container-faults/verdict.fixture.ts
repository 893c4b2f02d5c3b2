import type { ApiResponse } from '../api.fixture.js';
import type { Plan } from './plan.fixture.js';

/** A response with the time that it took. */
export interface Timed extends ApiResponse {
  readonly ms: number;
}

/** A host without containerd, or that loses a process, refuses in so many milliseconds. */
const REFUSED_WITHIN_MS = 5_000;
/** A call to nerdctl that hangs is ended after 20 s. */
const HUNG_WITHIN_MS = 30_000;
/** Names of what the host consists of, which no caller needs to know. */
const INTERNALS = /nerdctl|containerd|runc|shim|rpc error|\.sock|\/tmp\/|\/dev\/shm|berth-[0-9a-f]{12}/i;

/** What is wrong with a response to the operation that the fault struck. */
export const brokenByResponse = ({ victim, how }: Plan, { status, body, ms }: Timed): readonly string[] => {
  const text = JSON.stringify(body);
  const withinMs = how === 'hang' && victim !== 'containerd' ? HUNG_WITHIN_MS : REFUSED_WITHIN_MS;
  return [
    ...(ms > withinMs ? [`The response took ${String(Math.round(ms))} ms.`] : []),
    ...(status < 300 || status === 503 ? [] : [`The response was ${String(status)} ${text}.`]),
    ...internalsIn('The response', text),
  ];
};

export const internalsIn = (where: string, text: string): readonly string[] => {
  const [found] = INTERNALS.exec(text) ?? [];
  return found === undefined ? [] : [`${where} names ${found}: ${text}`];
};

/** Places that contain the secret. */
export const leaksOf = (secret: string, places: Readonly<Record<string, string>>): readonly string[] =>
  Object.entries(places).flatMap(([place, text]) =>
    text.includes(secret) ? [`The secret is in ${place}.`] : [],
  );
