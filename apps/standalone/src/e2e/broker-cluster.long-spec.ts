import { eventually } from '@berth/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Api } from './api.fixture.js';
import { BrokerCluster, type BrokerNode } from './broker-cluster.fixture.js';
import { CountedLoad, readMarks, type CountedCall } from './counted-load.fixture.js';
import { startSeparateStack, type SeparateStack } from './separate-processes.fixture.js';
import { temporaryFolder } from './stack.fixture.js';

const AGENTS = 4;
const PER_SECOND = 20;
const FROZEN_MS = 30_000;
const DEAD_MS = 8_000;
/** The API guarantees a 503 within this time. */
const NOT_BEGUN_AFTER_MS = 5_000;
/** Two unanswered pings of 2 s each, plus the time that the clients need to recover. */
const RECOVERS_WITHIN_MS = 15_000;

const folder = temporaryFolder();
let cluster: BrokerCluster | undefined;
let stack: SeparateStack | undefined;
const running = (): SeparateStack => {
  if (stack === undefined) throw new Error('The stack did not start.');
  return stack;
};
const brokers = (): BrokerCluster => {
  if (cluster === undefined) throw new Error('The brokers did not start.');
  return cluster;
};

beforeAll(async () => {
  cluster = await BrokerCluster.start(folder.path, 3);
  stack = await startSeparateStack(folder.path, {}, cluster.url);
}, 240_000);
afterAll(async () => {
  await stack?.stop();
  await cluster?.stop();
  folder.remove();
});

const pass = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));
const failed = (calls: readonly CountedCall[]): readonly CountedCall[] =>
  calls.filter(({ isDone }) => !isDone);
const shareFailed = (calls: readonly CountedCall[]): number => failed(calls).length / calls.length;
/** The response says that nothing was done. */
const isDenied = ({ status }: CountedCall): boolean => [409, 429, 503].includes(status);
const summary = (calls: readonly CountedCall[]): string =>
  JSON.stringify(
    Object.entries(Object.groupBy(calls, ({ kind, status, code }) => `${kind} ${status} ${code ?? ''}`)).map(
      ([what, of]) => `${what}: ${String(of?.length)}`,
    ),
  );

describe('every service as a separate process, on three brokers', () => {
  const api = new Api(running);
  const agents: string[] = [];
  const phases = { frozen: [0, 0], frozenThenDead: [0, 0], busiestDead: [0, 0] };
  let load: CountedLoad;
  let marks: ReadonlyMap<string, readonly number[]>;

  beforeAll(async () => {
    const ids = await Promise.all(
      Array.from({ length: AGENTS }, () => api.runningAgent({ templateId: 'probe', idleTtlSeconds: 0 })),
    );
    agents.push(...ids.map(({ id }) => id));
    load = new CountedLoad(api, agents, PER_SECOND);
    await eventually(() => expect(load.calls.length).toBeGreaterThan(2 * PER_SECOND), { timeoutMs: 20_000 });
    const frozen = await brokers().busiest();
    phases.frozen = [Date.now(), Date.now() + FROZEN_MS];
    frozen.signal('SIGSTOP');
    await pass(FROZEN_MS);
    // The thawed node delivers what it held before it dies.
    frozen.signal('SIGCONT');
    await recovered();
    phases.frozenThenDead = await kill(frozen);
    // The clients left the frozen node, so the death of a node that serves them is a case of its own.
    frozen.restart();
    await brokers().ready();
    phases.busiestDead = await kill(await brokers().busiest());
    await load.stop();
    marks = await readMarks(api, agents);
  }, 240_000);

  /** Returns the time that the node was dead before the calls had to succeed again. */
  const kill = async (node: BrokerNode): Promise<[from: number, to: number]> => {
    const from = Date.now();
    await node.end();
    await pass(DEAD_MS);
    await recovered();
    return [from, from + DEAD_MS];
  };

  /** Waits until all calls of two seconds in a row succeed. */
  const recovered = (): Promise<void> =>
    eventually(
      () => {
        const recent = load.calls.slice(-2 * PER_SECOND);
        if (failed(recent).length > 0) throw new Error(`Still failing: ${summary(recent)}`);
      },
      { timeoutMs: RECOVERS_WITHIN_MS, intervalMs: 200 },
    );

  const during = ([from = 0, to = 0]: readonly number[]): readonly CountedCall[] => load.between(from, to);

  it('start nothing later than 5 s after a response that denies it', () => {
    const late = load.calls.filter(
      (call) =>
        isDenied(call) &&
        (marks.get(call.mark) ?? []).some((at) => at > call.respondedAt + NOT_BEGUN_AFTER_MS),
    );
    expect(late).toEqual([]);
  });

  it('never report a started command as not started', () => {
    const wrong = load.calls.filter((call) => call.kind === 'exec' && isDenied(call) && marks.has(call.mark));
    expect(wrong).toEqual([]);
  });

  it('execute each successful call exactly once, and no call twice', () => {
    const wrong = load.calls.filter(({ mark, isDone }) => {
      const times = marks.get(mark)?.length ?? 0;
      return times > 1 || (isDone && times !== 1);
    });
    expect(wrong).toEqual([]);
  });

  it('record no completed execution as failed, and no execution as completed that did not run', async () => {
    const unknown = load.calls.filter(
      ({ kind, isDone, executionId }) => kind === 'exec' && !isDone && executionId !== undefined,
    );
    for (const { agentId, executionId, mark } of unknown) {
      const path = `/api/agents/${agentId}/exec/${executionId ?? ''}`;
      const known = await eventually(
        async () => {
          const { status, body } = await api.get<{ status?: string }>(path);
          if (body.status === 'running') throw new Error('The outcome is not known yet.');
          return status === 404 ? 'refused' : body.status;
        },
        { timeoutMs: 60_000, intervalMs: 500 },
      );
      expect({ mark, completed: known === 'completed' }).toEqual({ mark, completed: marks.has(mark) });
    }
  });

  it('fail a bounded share of calls while a broker is frozen, and fewer when one dies', () => {
    const frozen = during(phases.frozen);
    expect(frozen.length).toBeGreaterThan((PER_SECOND * FROZEN_MS) / 2_000);
    expect(shareFailed(frozen), summary(frozen)).toBeLessThan(0.35);
    for (const phase of [phases.frozenThenDead, phases.busiestDead]) {
      const dead = during(phase);
      expect(dead.length).toBeGreaterThan((PER_SECOND * DEAD_MS) / 2_000);
      expect(shareFailed(dead), summary(dead)).toBeLessThan(0.2);
    }
  });
});
