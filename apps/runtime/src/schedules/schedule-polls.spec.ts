import { schedulesRequests, type ReportPolledSchedules } from '@berth/contracts/schedules';
import type { PolledSchedules } from '@berth/guest-protocol';
import { createLogger } from '@berth/telemetry';
import { setImmediate as settled } from 'node:timers/promises';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { SchedulePolls } from './schedule-polls.js';

/** A program with an answer, and the service that hears of it. */
class World {
  readonly reports: ReportPolledSchedules[] = [];
  readonly lines: string[] = [];
  polled: PolledSchedules = { state: 'none' };
  polls = 0;
  problem: string | null = null;
  isDown = false;
  readonly over = new AbortController();
  #now = 0;
  #next: { readonly at: number; readonly resolve: () => void } | undefined;

  /** Lets time pass; what is due in it happens. */
  async pass(seconds: number): Promise<void> {
    const until = this.#now + seconds * 1000;
    for (;;) {
      await settled();
      const next = this.#next;
      if (next === undefined || next.at > until) break;
      this.#next = undefined;
      this.#now = next.at;
      next.resolve();
    }
    this.#now = until;
  }

  private wait(millis: number, signal: AbortSignal | undefined): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    signal?.addEventListener('abort', () => resolve(), { once: true });
    this.#next = { at: this.#now + millis, resolve };
    return promise;
  }

  follow(): void {
    const polls = new SchedulePolls(
      { id: 'hst_1' },
      { request: <Req, Res>(definition: object, payload: Req) => this.receive<Res>(definition, payload) },
      { add: (_agentId, level, message) => Promise.resolve(void this.lines.push(`${level} ${message}`)) },
      createLogger({ service: 'test', level: 'silent' }),
      (millis, signal) => this.wait(millis, signal),
    );
    const guest = {
      schedules: () => {
        this.polls++;
        return Promise.resolve(this.polled);
      },
    };
    void polls.follow('agt_1', guest, this.over.signal);
  }

  private receive<Res>(definition: object, payload: unknown): Promise<Res> {
    expect(definition).toBe(schedulesRequests.reportPolled);
    if (this.isDown) return Promise.reject(new Error('down'));
    this.reports.push(payload as ReportPolledSchedules);
    return Promise.resolve({ problem: this.problem } as Res);
  }
}

let world: World;
beforeEach(() => {
  world = new World();
  world.follow();
});
afterEach(() => world.over.abort());

const pass = (seconds: number) => world.pass(seconds);
const list = (...entries: readonly { readonly id: string }[]): PolledSchedules => ({
  state: 'list',
  entries,
});

it('a program is asked within 10 s after a wake, then every 60 s, and not after the agent rests', async () => {
  await pass(10);
  expect(world.polls).toBe(1);
  await pass(59);
  expect(world.polls).toBe(2);
  world.over.abort();
  await pass(600);
  expect(world.polls).toBe(2);
});

it('a list is reported once until it changes, and again after a failed report', async () => {
  world.polled = list({ id: 'a' });
  world.isDown = true;
  await pass(5);
  world.isDown = false;
  await pass(130);
  expect(world.reports).toMatchObject([{ agentId: 'agt_1', host: 'hst_1', entries: [{ id: 'a' }] }]);
  world.polled = list({ id: 'b' });
  await pass(60);
  expect(world.reports).toHaveLength(2);
});

it('a program without schedules is no problem; every other problem is one line in the system log', async () => {
  await pass(70);
  expect([world.lines, world.reports]).toEqual([[], []]);
  world.polled = { state: 'failed', problem: 'it answered with status 500' };
  await pass(130);
  expect(world.lines).toHaveLength(1);
  world.polled = list({ id: '' });
  world.problem = 'entries[0].id must be 1 to 128 characters long';
  await pass(130);
  expect(world.lines).toHaveLength(2);
  expect(world.lines[1]).toMatch(/^warn .*entries\[0\]\.id/);
});
