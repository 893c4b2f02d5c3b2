import type { Api } from '../api.fixture.js';
import type { Plan } from './plan.fixture.js';

/** One request to run the command, and its outcome. */
export interface Attempt {
  /** The executions that the gateway created for the request: at most one, none if it did not get that far. */
  readonly executionIds: Set<string>;
  /** undefined: the connection was lost, or no response arrived in time. */
  response?: {
    readonly status: number;
    readonly body: Readonly<Record<string, unknown>>;
    readonly replayed: boolean;
  };
  lost?: string;
}

/** Longer than any step may take: the command 20 s, a wake 60 s. */
const RESPONSE_WITHIN_MS = 100_000;
const TIMEOUT_SECONDS = 20;
export const LATE = 'no response in time';

/** Part of every command of that seed, and of no other seed's. */
export const markOf = (seed: number): string => `mark:${String(seed)}:`;

/** The command first leaves its mark, in one write. */
export const commandOf = ({ seed, runsMs, padding }: Plan): string => {
  const mark = `echo ${markOf(seed)}`;
  const runs = runsMs === 0 ? '' : `; sleep ${String(runsMs / 1000)}`;
  const pad = padding === 0 ? '' : `\n: ${'x'.repeat(padding)}`;
  return `${mark} >> marks; ${mark}${runs}${pad}`;
};

/** Sends it once. Never throws. */
export const attempt = async (
  api: Api,
  agentId: string,
  plan: Plan,
  into: Attempt,
  idempotencyKey: string | null,
): Promise<void> => {
  const body = { command: commandOf(plan), detached: plan.detached, timeout: TIMEOUT_SECONDS };
  try {
    const {
      status,
      body: received,
      headers,
    } = await api.post(`/api/agents/${agentId}/exec`, body, {
      signal: AbortSignal.timeout(RESPONSE_WITHIN_MS),
      ...(idempotencyKey === null ? {} : { headers: { 'idempotency-key': idempotencyKey } }),
    });
    into.response = { status, body: received, replayed: headers.get('idempotent-replayed') !== null };
  } catch (error) {
    if (error instanceof Error && error.name === 'TimeoutError') into.lost = LATE;
    else into.lost = error instanceof Error ? String(error.cause ?? error) : String(error);
  }
};

/** The two responses that promise that the command was not started, literally. */
const NOT_STARTED: ReadonlyMap<number, string> = new Map([
  [409, '{"code":"vm_not_ready","state":"starting","execution_started":false}'],
  [503, '{"code":"guest_command_unavailable","execution_started":false}'],
]);

/** Whether the response promises that the command was not started. */
export const saysNotStarted = ({ response }: Attempt): boolean =>
  response !== undefined &&
  NOT_STARTED.has(response.status) &&
  NOT_STARTED.get(response.status) === JSON.stringify(response.body['detail']);

/** The code of an error; the status of any other response. */
export const kindOf = ({ response, lost }: Attempt): string => {
  if (response === undefined) return lost === LATE ? LATE : 'connection lost';
  const { detail } = response.body;
  const code =
    typeof detail === 'object' && detail !== null && 'code' in detail ? ` ${String(detail.code)}` : '';
  return `${String(response.status)}${code}`;
};

/** The execution that a response names: 200, 202 and 502 do. */
export const namedBy = ({ response }: Attempt): string | undefined => {
  const { detail, executionId = (detail as Record<string, unknown> | undefined)?.['executionId'] } =
    response?.body ?? {};
  return typeof executionId === 'string' ? executionId : undefined;
};
