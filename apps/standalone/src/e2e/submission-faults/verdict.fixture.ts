import type { ExecutionRecord } from '@berth/guest-protocol';
import type { Plan } from './plan.fixture.js';
import { kindOf, LATE, markOf, namedBy, saysNotStarted, type Attempt } from './submission.fixture.js';

/** The result of `GET` for an execution once everything is healed. */
export interface View {
  readonly status: number;
  readonly body: Readonly<Record<string, unknown>>;
}

/** Everything known about one submission afterwards. */
export interface Facts {
  readonly plan: Plan;
  readonly attempts: readonly Attempt[];
  /** How often the command has left its mark in the agent's volume. */
  readonly marks: number;
  /** The guest's journal record of each execution that any of the requests created. */
  readonly records: ReadonlyMap<string, ExecutionRecord | 'torn'>;
  readonly views: ReadonlyMap<string, View>;
}

/** Returns a description of every broken guarantee. */
export const brokenGuarantees = (facts: Facts): readonly string[] => [
  ...facts.attempts.flatMap((attempt) => checkResponse(attempt, facts)),
  ...checkMarks(facts),
  ...[...idsOf(facts)].flatMap((id) => checkExecution(id, facts)),
];

const EXPECTED: ReadonlySet<string> = new Set([
  '409 vm_not_ready',
  '409 idempotency_in_progress',
  '502 execution_outcome_unknown',
  '503 guest_command_unavailable',
  '503 service_unavailable',
  'connection lost',
]);

const checkResponse = (attempt: Attempt, facts: Facts): readonly string[] => {
  const kind = kindOf(attempt);
  if (attempt.lost === LATE) return ['There was no response.'];
  if (kind !== (facts.plan.detached ? '202' : '200') && !EXPECTED.has(kind))
    return [`Unexpected response ${JSON.stringify(attempt.response)}.`];
  if (JSON.stringify(attempt.response?.body ?? {}).includes('execution_started') && !saysNotStarted(attempt))
    return [`It says execution_started in another wording: ${JSON.stringify(attempt.response)}.`];
  if (saysNotStarted(attempt)) return checkNotStarted(attempt, facts);
  return attempt.response?.status === 200 ? checkResult(attempt, facts) : [];
};

/** The guarantee of the API's literal responses. */
const checkNotStarted = (attempt: Attempt, { plan, attempts, records }: Facts): readonly string[] => {
  // With two concurrent requests it is unknown which one created which execution.
  const others = plan.fault.kind === 'twins' ? attempts.map(namedBy) : [];
  return [...attempt.executionIds].flatMap((id) =>
    records.has(id) && !others.includes(id)
      ? [`A LIE: the response was ${kindOf(attempt)}, but the guest's journal has ${id}.`]
      : [],
  );
};

const checkResult = (attempt: Attempt, { marks, views }: Facts): readonly string[] => {
  const { body } = attempt.response ?? {};
  const later = views.get(namedBy(attempt) ?? '')?.body;
  const problems = sameResult(body, later)
    ? []
    : [`The response was ${JSON.stringify(body)}, and later ${JSON.stringify(later)}.`];
  if (body?.['status'] === 'completed' && marks === 0)
    problems.push('The response was completed, but there is no mark.');
  return problems;
};

const FIELDS = ['executionId', 'status', 'exitCode', 'stdout', 'stderr'];

const sameResult = (one: View['body'] | undefined, other: View['body'] | undefined): boolean =>
  FIELDS.every((field) => one?.[field] !== undefined && one[field] === other?.[field]);

const checkMarks = ({ attempts, marks, records }: Facts): readonly string[] => {
  const problems: string[] = [];
  if (marks > 1) problems.push(`It ran ${String(marks)} times.`);
  if (marks > 0 && attempts.every(saysNotStarted))
    problems.push('A LIE: the response was that it did not start, but there is its mark.');
  if (marks > records.size) problems.push('There is a mark of a command that is in no journal.');
  return problems;
};

const idsOf = ({ attempts }: Facts): ReadonlySet<string> =>
  new Set(attempts.flatMap((attempt) => [...attempt.executionIds, ...named(attempt)]));

const named = (attempt: Attempt): readonly string[] => {
  const id = namedBy(attempt);
  return id === undefined ? [] : [id];
};

/** Everything that was started reaches an end that can be read and that matches the journal. */
const checkExecution = (id: string, facts: Facts): readonly string[] => {
  const { attempts, records, views } = facts;
  const record = records.get(id);
  const view = views.get(id);
  const promised = attempts.some(
    ({ response }) => response !== undefined && response.status < 300 && response.body['executionId'] === id,
  );
  if (view?.status === 404 && view.body['detail'] === 'Execution not found') {
    return record === undefined && !promised ? [] : [`LOST: ${id} was begun or promised, and is not found.`];
  }
  if (view?.status !== 200) return [`${id} cannot be read: ${JSON.stringify(view)}.`];
  return checkEnd(id, view.body, facts);
};

const checkEnd = (id: string, result: View['body'], { plan, marks, records }: Facts): readonly string[] => {
  const record = records.get(id);
  const { status } = result;
  if (status === 'running') return [`STUCK: ${id} does not end; its journal says ${JSON.stringify(record)}.`];
  if (status !== 'completed' && status !== 'failed')
    return [`No request ended ${id}, and it is ${String(status)}.`];
  const problems: string[] = [];
  if (status === 'completed') {
    if (marks === 0) problems.push(`${id} is completed, and there is no mark.`);
    if (result['exitCode'] !== 0 || result['stdout'] !== `${markOf(plan.seed)}\n`)
      problems.push(`${id} has the result of something else: ${JSON.stringify(result)}.`);
  }
  if (
    record !== undefined &&
    record !== 'torn' &&
    record.status === 'completed' &&
    !sameResult({ ...record }, result)
  )
    problems.push(
      `The journal knows ${id} as ${JSON.stringify(record)}, and its result is ${JSON.stringify(result)}.`,
    );
  return problems;
};
