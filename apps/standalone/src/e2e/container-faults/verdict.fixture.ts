import type { ApiResponse } from '../api.fixture.js';
import type { Plan } from './plan.fixture.js';

/** A response with the time that it took. */
export interface Timed extends ApiResponse {
  readonly ms: number;
}

/** A host without containerd, or one that loses a process, responds within this time. */
const REFUSED_WITHIN_MS = 5_000;
/** The host kills a call to nerdctl that hangs after 20 s. */
const HUNG_WITHIN_MS = 30_000;
/** Names of a host's internals, which no response may disclose. */
const INTERNALS = /nerdctl|containerd|runc|shim|rpc error|\.sock|\/tmp\/|\/dev\/shm|berth-[0-9a-f]{12}/i;

/** The problems of the response to the operation that the fault interrupted. */
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

/** A problem for each place whose text contains the secret. */
export const leaksOf = (secret: string, places: Readonly<Record<string, string>>): readonly string[] =>
  Object.entries(places).flatMap(([place, text]) =>
    text.includes(secret) ? [`The secret is in ${place}.`] : [],
  );
