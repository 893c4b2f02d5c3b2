import { createLogger } from '@berth/telemetry';
import { eventually } from '@berth/testing';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { NotReady, RestartLater, Supervisor } from './index.js';
import { TIMING } from './supervised-work.js';

const TINY = { ...TIMING, firstPauseMs: 2, longestPauseMs: 8 };

let lines: { msg: string; work: string; failures: number; err?: { message: string } }[];
let supervisor: Supervisor;

const log = createLogger({
  service: 'test',
  destination: { write: (line) => void lines.push(JSON.parse(line) as (typeof lines)[number]) },
});

/** Work that throws the error of each attempt, and then runs until it is cancelled. */
const failing = (...errors: readonly Error[]) => {
  const state = { attempts: 0, running: false };
  const work = async (signal: AbortSignal): Promise<void> => {
    const error = errors[state.attempts++];
    if (error !== undefined) throw error;
    state.running = true;
    await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
    state.running = false;
  };
  return { state, work };
};

const times = (count: number, error = new Error('broken')): Error[] =>
  Array.from({ length: count }, () => error);

beforeEach(() => {
  lines = [];
  supervisor = new Supervisor('test', log, TINY);
});
afterEach(() => supervisor.stop());

describe('a supervisor', () => {
  it('restarts work that throws, until it runs', async () => {
    const { state, work } = failing(...times(5));
    supervisor.start('five failures', work);
    await eventually(() => state.running);
    expect(state.attempts).toBe(6);
  });

  it('restarts work that ends before the service, and work that throws what is not an error', async () => {
    let attempts = 0;
    supervisor.start('ends', () => {
      attempts++;
      return attempts % 2 === 0 ? Promise.resolve() : Promise.reject('no error' as unknown as Error);
    });
    await eventually(() => attempts > 4);
    expect(supervisor.failing).toEqual([{ work: 'ends', error: expect.any(String) as string }]);
  });

  it('cancels all work when it stops, waits for its end, and restarts nothing', async () => {
    const [one, two] = [failing(), failing(...times(1_000))];
    supervisor.start('one', one.work);
    supervisor.start('two', two.work);
    await eventually(() => one.state.running && two.state.attempts > 1);
    await supervisor.stop();
    expect(one.state).toEqual({ attempts: 1, running: false });
    const { attempts } = two.state;
    await new Promise((resolve) => setImmediate(resolve));
    expect(two.state.attempts).toBe(attempts);
  });

  it('lets no failure of one work affect another', async () => {
    const [one, two] = [failing(...times(3)), failing()];
    supervisor.start('one', one.work);
    supervisor.start('two', two.work);
    await eventually(() => one.state.running && two.state.running);
    expect(two.state.attempts).toBe(1);
  });

  it('pauses longer after each failure, up to a limit', async () => {
    const startedAt: number[] = [];
    supervisor = new Supervisor('test', log, { ...TIMING, firstPauseMs: 20, longestPauseMs: 80 });
    supervisor.start('slower', () => {
      startedAt.push(performance.now());
      throw new Error('broken');
    });
    await eventually(() => startedAt.length > 4);
    const pauses = startedAt.slice(1).map((at, index) => at - (startedAt[index] ?? 0));
    // Timers may fire up to a millisecond early.
    expect(pauses[0]).toBeGreaterThan(9);
    expect(pauses[1]).toBeGreaterThan(19);
    expect(pauses[2]).toBeGreaterThan(39);
    expect(pauses[3]).toBeGreaterThan(39);
  });

  it('waits as long as the thrown `RestartLater` requires', async () => {
    const { state, work } = failing(new RestartLater('later', 120));
    const startedAt = performance.now();
    supervisor.start('later', work);
    await eventually(() => state.running, { intervalMs: 1 });
    expect(performance.now() - startedAt).toBeGreaterThan(118);
  });
});

describe('what a supervisor reports', () => {
  it('is the first failure at once, and not each of the next ones', async () => {
    const { state, work } = failing(new Error('the first'), ...times(20));
    supervisor.start('logged', work);
    await eventually(() => state.running);
    expect(lines).toMatchObject([{ work: 'logged', failures: 1, err: { message: 'the first' } }]);
  });

  it('is a series that lasts, at a bounded rate', async () => {
    supervisor = new Supervisor('test', log, { ...TINY, logEveryMs: 40 });
    const startedAt = performance.now();
    supervisor.start('lasting', failing(...times(100_000)).work);
    await eventually(() => lines.length >= 3);
    expect(performance.now() - startedAt).toBeGreaterThan(78);
    expect(lines.at(-1)?.failures).toBeGreaterThan(3);
  });

  it('is the last error of work that fails, until it has run steadily', async () => {
    supervisor = new Supervisor('test', log, { ...TINY, steadyMs: 30 });
    const { state, work } = failing(new Error('the first'), new Error('the last'));
    supervisor.start('sound', failing().work);
    supervisor.start('shaky', work);
    await eventually(() => state.running, { intervalMs: 1 });
    expect(supervisor.failing).toEqual([{ work: 'shaky', error: 'the last' }]);
    await eventually(() => supervisor.failing.length === 0);
    expect(lines.at(-1)).toMatchObject({ work: 'shaky', failures: 2, msg: 'Background work runs again.' });
  });

  it('names the cause of an error', async () => {
    const cause = new Error('connect ECONNREFUSED', { cause: new Error('the socket') });
    const { state, work } = failing(new Error('Try again shortly.', { cause }));
    supervisor.start('caused', work);
    await eventually(() => state.running);
    const error = 'Try again shortly. (connect ECONNREFUSED (the socket))';
    expect(supervisor.failing).toEqual([{ work: 'caused', error }]);
  });

  it('contains no secret', async () => {
    const { state, work } = failing(new Error('refused: postgres://berth:hunter2@db/berth?token=hunter2'));
    supervisor.start('secret', work);
    await eventually(() => state.running);
    expect(JSON.stringify([supervisor.failing, lines])).not.toContain('hunter2');
  });

  it('leaves out work that is still waiting to begin', async () => {
    const { state, work } = failing(...times(5, new NotReady('not yet')));
    supervisor.start('early', work);
    await eventually(() => state.running);
    expect(supervisor.failing).toEqual([]);
    expect(lines).toEqual([]);
  });

  it('includes work that has waited too long to begin', async () => {
    supervisor = new Supervisor('test', log, { ...TINY, notReadyMs: 20 });
    supervisor.start('late', failing(...times(100_000, new NotReady('not yet'))).work);
    await eventually(() => expect(supervisor.failing).toEqual([{ work: 'late', error: 'not yet' }]));
    expect(lines).toHaveLength(1);
  });
});
