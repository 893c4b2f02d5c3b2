import { computersRequests } from '@berth/contracts/computers';
import { runtimeRequests } from '@berth/contracts/runtime';
import { newId } from '@berth/kernel';
import { eventually } from '@berth/testing';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { about, ServedComputers } from '../fixtures/served-computers.fixture.js';

const SOON = { timeoutMs: 10_000, intervalMs: 50 };
let served: ServedComputers;
let id: string;

beforeAll(async () => {
  served = await ServedComputers.start({ BERTH_WARM_SLEEP_SECONDS: '2' });
});
afterAll(() => served.stop());
beforeEach(async () => {
  served.fakes.reset();
  ({ id } = await served.running());
});

const announce = (incarnation: string, members: object = {}) =>
  served.requester.request(
    computersRequests.announceHost,
    {
      ...{ host: 'host1', incarnation, freeMemMb: 4_096, logId: null },
      agents: served.fakes.observed(...served.fakes.boxes.keys()),
      ...members,
    },
    { host: 'host1' },
  );
const observe = (epoch: number, observation: object, host = 'host1') =>
  served.requester.request(
    computersRequests.reportObservation,
    { host, agentId: id, epoch, observation } as never,
    { host },
  );
const history = async (): Promise<readonly string[]> =>
  (await served.history(`computer-${id}`)).map(({ type }) => type);
const sleep = () => served.requester.request(computersRequests.sleep, about(id));

describe('what a host observes', () => {
  it('is that a computer has fallen asleep; it goes cold after the time of warm sleep', async () => {
    served.fakes.boxes.set(id, { epoch: 1, state: 'frozen' });
    await observe(1, { type: 'asleep', depth: 'warm', reason: 'idle' });
    expect(await served.get(id)).toMatchObject({ status: 'sleeping', sleepAt: null });
    await eventually(() => expect(served.fakes.boxes.get(id)).toEqual({ epoch: 1, state: 'stopped' }), SOON);
    await eventually(async () => expect((await history()).at(-2)).toBe('ComputerFellAsleep'), SOON);
    expect((await served.history(`computer-${id}`)).at(-1)?.data).toMatchObject({
      depth: 'cold',
      reason: 'cooled',
    });
  });

  it('changes nothing if it is of an earlier epoch or of another host, and once if it arrives twice', async () => {
    await observe(0, { type: 'exited', message: 'It ended.' });
    await observe(1, { type: 'exited', message: 'It ended.' }, 'host2');
    await observe(1, { type: 'out_of_memory', message: 'It was full.' });
    expect(await served.get(id)).toMatchObject({ status: 'running' });
    await observe(1, { type: 'exited', message: 'It ended.' });
    await observe(1, { type: 'exited', message: 'It ended.' });
    expect(await served.get(id)).toMatchObject({ status: 'sleeping' });
    expect((await history()).filter((type) => type === 'ComputerFellAsleep')).toHaveLength(1);
  });

  it('is that a desktop ends again and again, which fails the computer', async () => {
    await observe(1, { type: 'crash_loop', message: 'Xvnc ended.' });
    expect(await served.get(id)).toMatchObject({ status: 'failed' });
  });

  it('is when a computer was last used, and when it will sleep', async () => {
    const [lastActiveAt, sleepAt] = [new Date(Date.now() + 60_000), new Date(Date.now() + 960_000)];
    const item = { agentId: id, lastActivityKind: 'computer', sleepAt: sleepAt.toISOString() } as const;
    const report = { host: 'host1', items: [{ ...item, lastActiveAt: lastActiveAt.toISOString() }] };
    await served.requester.request(computersRequests.reportActivity, report, { host: 'host1' });
    expect(await served.get(id)).toMatchObject({
      lastActiveAt: lastActiveAt.toISOString(),
      sleepAt: sleepAt.toISOString(),
    });
    const inUse = { ...report.items[0], ...item, sleepAt: null, lastActiveAt: lastActiveAt.toISOString() };
    await served.requester.request(
      computersRequests.reportActivity,
      { host: 'host1', items: [inUse] },
      { host: 'host1' },
    );
    expect(await served.get(id)).toMatchObject({ sleepAt: null });
  });
});

describe('a host that announces itself', () => {
  it('is told which of its computers to remove and which to stop', async () => {
    await sleep();
    await eventually(() => expect(served.fakes.boxes.get(id)?.state).toBe('stopped'), SOON);
    await eventually(
      async () => expect((await history()).filter((type) => type === 'ComputerFellAsleep')).toHaveLength(2),
      SOON,
    );
    const unknown = newId('cmp');
    const ofThisHost = [id, unknown].map((agentId) => ({ agentId, epoch: 1, state: 'running' as const }));
    expect(await announce('first', { agents: ofThisHost })).toMatchObject({ remove: [unknown], stop: [id] });
  });

  it('that belongs to another event log gets no orders', async () => {
    await expect(announce('first', { logId: 'another' })).rejects.toMatchObject({ code: 'other_event_log' });
  });

  it('has put those of its computers to sleep that it lacks after a restart', async () => {
    await announce('first');
    served.fakes.boxes.delete(id);
    await announce('first');
    expect(await served.get(id)).toMatchObject({ status: 'running' });
    await announce('second');
    expect(await served.get(id)).toMatchObject({ status: 'sleeping' });
    expect(await history()).toContain('ComputerUnseen');
  });

  it('starts those again that never sleep', async () => {
    const { id: always } = await served.running({ idleTtlSeconds: 0 });
    await announce('third');
    served.fakes.boxes.delete(always);
    await announce('fourth');
    await eventually(
      () => expect(served.fakes.boxes.get(always)).toEqual({ epoch: 2, state: 'running' }),
      SOON,
    );
  });
});

describe('a host that an operator has removed', () => {
  it('takes its computers with it, and their deletion needs no host', async () => {
    served.fakes.removedHosts.add('host1');
    try {
      await served.until(id, 'failed');
      await expect(announce('fifth')).rejects.toMatchObject({ code: 'host_removed' });
      await served.requester.request(computersRequests.delete, about(id));
      await eventually(async () => expect((await history()).at(-1)).toBe('ComputerDeleted'), SOON);
      expect(served.fakes.about(id, runtimeRequests.remove)).toEqual([]);
    } finally {
      served.fakes.removedHosts.clear();
    }
  });
});
