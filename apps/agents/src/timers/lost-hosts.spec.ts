import type { HostHearing } from '@berth/boxes';
import { createLogger } from '@berth/telemetry';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { HostDirectory } from '../host/host-directory.js';
import type { AgentTimeouts } from './agent-timeouts.js';
import type { DueAgentsQuery } from './due-agents.query.js';
import { LostHosts } from './lost-hosts.js';

const log = createLogger({ service: 'test', level: 'silent' });

/** What each host announced last; each has one agent, `agt_<host>`. */
let seen: Map<string, string>;
let hears: boolean;
let failed: string[];
let judge: LostHosts;

const newJudge = (): LostHosts =>
  new LostHosts(
    { isProven: () => Promise.resolve(hears) } as HostHearing,
    {
      seen: () => Promise.resolve([...seen].map(([host, seenAt]) => ({ host, seenAt }))),
    } as unknown as HostDirectory,
    {
      onHosts: (hosts: readonly string[]) =>
        Promise.resolve(hosts.map((host) => ({ id: `agt_${host}`, host }))),
    } as unknown as DueAgentsQuery,
    { loseHost: (id: string) => Promise.resolve(void failed.push(id)) } as unknown as AgentTimeouts,
    log,
  );

let announcements = 0;
const announce = (...hosts: readonly string[]): void => {
  for (const host of hosts) seen.set(host, `announcement ${String(++announcements)}`);
};

/** A second passes at a time; the judge looks after each. */
const pass = async (seconds: number, each: (second: number) => void = () => undefined): Promise<void> => {
  for (let second = 1; second <= seconds; second++) {
    vi.advanceTimersByTime(1_000);
    each(second);
    await judge.judge();
  }
};
const announcing =
  (...hosts: readonly string[]) =>
  (second: number): void => {
    if (second % 10 === 0) announce(...hosts);
  };

beforeEach(async () => {
  vi.useFakeTimers({ toFake: ['performance'] });
  seen = new Map();
  failed = [];
  hears = true;
  judge = newJudge();
  announce('one', 'two');
  await judge.judge();
});
afterEach(() => {
  vi.useRealTimers();
});

describe('the judge of lost hosts', () => {
  it('fails the agents of a host that was silent for 30 s, and of no other', async () => {
    await pass(29, announcing('two'));
    expect(failed).toEqual([]);
    await pass(1);
    expect(failed).toEqual(['agt_one']);
  });

  it('counts no time in which it heard nothing itself, and then gives every host its full time', async () => {
    await pass(20, announcing('one', 'two'));
    hears = false;
    await pass(45);
    hears = true;
    await pass(29, (second) => {
      if (second === 12) announce('two');
    });
    expect(failed).toEqual([]);
    await pass(2);
    expect(failed).toEqual(['agt_one']);
  });

  it('counts no time in which it stood still', async () => {
    vi.advanceTimersByTime(3_600_000);
    await pass(29);
    expect(failed).toEqual([]);
  });

  it('notices the loss in time although single looks fail', async () => {
    await pass(31, (second) => {
      hears = second % 5 !== 0;
    });
    expect(failed).toEqual(['agt_one', 'agt_two']);
  });

  it('gives every host its full time when it begins, however long ago the host was seen', async () => {
    await pass(29);
    judge = newJudge();
    await pass(29);
    expect(failed).toEqual([]);
  });
});
