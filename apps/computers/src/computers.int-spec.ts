import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { agentsRequests } from '@berth/contracts/agents';
import { computersRequests } from '@berth/contracts/computers';
import { runtimeRequests } from '@berth/contracts/runtime';
import { DomainError } from '@berth/kernel';
import { eventually } from '@berth/testing';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { endUserIdOf } from './fixtures/fake-surroundings.fixture.js';
import { about, aCreation, ACCOUNT, ServedComputers } from './fixtures/served-computers.fixture.js';

/** Of the operator's file. */
const SIZES = { memMb: 1_024, vcpus: 1.5, diskGb: 3 };

let folder: string;
let served: ServedComputers;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'berth-computers-'));
  const file = join(folder, 'berth.yaml');
  writeFileSync(file, JSON.stringify({ computers: SIZES }));
  served = await ServedComputers.start({ BERTH_CONFIG: file });
  await served.another();
});
afterAll(async () => {
  await served.stop();
  rmSync(folder, { recursive: true });
});
beforeEach(() => served.fakes.reset());

const history = async (computerId: string): Promise<readonly string[]> =>
  (await served.history(`computer-${computerId}`)).map(({ type }) => type);
const wake = (computerId: string) => served.requester.request(computersRequests.wake, about(computerId));
const sleep = (computerId: string) => served.requester.request(computersRequests.sleep, about(computerId));
const remove = (computerId: string) => served.requester.request(computersRequests.delete, about(computerId));
const ensureAwake = (computerId: string, refusedEpoch: number | null = null) =>
  served.requester.request(computersRequests.ensureAwake, { ...about(computerId), refusedEpoch });

describe('a computer', () => {
  it('is created with the sizes of the operator, starts in the background, and then runs', async () => {
    const { computer, created } = await served.create({ name: 'desk' });
    expect(created).toBe(true);
    expect(computer).toMatchObject({
      status: 'starting',
      name: 'desk',
      externalUserId: null,
      display: { width: 1_280, height: 800 },
      resources: SIZES,
      sleepAt: null,
    });
    expect(await served.until(computer.id, 'running')).toMatchObject({ name: 'desk' });
    expect(served.fakes.about(computer.id, runtimeRequests.start)).toMatchObject([
      { epoch: 1, source: { kind: 'desktop', version: 1 }, desktop: computer.display, idleTtlSeconds: 900 },
    ]);
  });

  it('is created once by a command that is sent again', async () => {
    const request = aCreation();
    const made = await Promise.all(
      [1, 2, 3].map(() => served.requester.request(computersRequests.create, request)),
    );
    expect(new Set(made.map(({ computer }) => computer.id)).size).toBe(1);
    expect(made.map(({ created }) => created)).toEqual([true, true, true]);
  });

  it('is the one of its end user under 100 creations at once, one of which has created it', async () => {
    const externalUserId = 'ada';
    const made = await Promise.all(Array.from({ length: 100 }, () => served.create({ externalUserId })));
    expect(new Set(made.map(({ computer }) => computer.id)).size).toBe(1);
    expect(made.filter(({ created }) => created)).toHaveLength(1);
    expect(made[0]?.computer).toMatchObject({ externalUserId });
    expect(served.fakes.endUsers).toContain(endUserIdOf(externalUserId));
  });

  it('takes the place of the one that its end user has deleted', async () => {
    const { computer } = await served.create({ externalUserId: 'bob' });
    await remove(computer.id);
    const next = await served.create({ externalUserId: 'bob' });
    expect(next.created).toBe(true);
    expect(next.computer.id).not.toBe(computer.id);
  });

  it('is not created, nor its end user, while no host has desktop software', async () => {
    served.fakes.on(agentsRequests.placeComputer, () => {
      throw new DomainError('unsupported', 'computers_unsupported', 'Run berth computers setup.');
    });
    await expect(served.create({ externalUserId: 'eve' })).rejects.toMatchObject({
      code: 'computers_unsupported',
    });
    expect(served.fakes.endUsers).not.toContain(endUserIdOf('eve'));
    served.fakes.reset();
    expect(await served.create({ externalUserId: 'eve' })).toMatchObject({ created: true });
  });

  it('sleeps warm, and thaws for the next use', async () => {
    const { id } = await served.running();
    expect(await sleep(id)).toMatchObject({ settled: true, computer: { status: 'sleeping' } });
    expect(await ensureAwake(id)).toMatchObject({ agentId: id, host: 'host1', epoch: 2 });
    expect(served.fakes.about(id, runtimeRequests.thaw)).toHaveLength(1);
    expect(await wake(id)).toMatchObject({ settled: true, computer: { status: 'running' } });
    expect(await history(id)).toEqual([
      ...['ComputerCreated', 'ComputerStarting', 'ComputerStarted'],
      ...['ComputerSleepRequested', 'ComputerFellAsleep', 'ComputerStarting', 'ComputerStarted'],
    ]);
  });

  it('is woken once by 20 uses at the same time', async () => {
    const { id } = await served.running();
    await sleep(id);
    const awake = await Promise.all(Array.from({ length: 20 }, () => ensureAwake(id)));
    expect(new Set(awake.map(({ epoch }) => epoch))).toEqual(new Set([2]));
  });

  it('is not found from its deletion on, which goes on until the host has removed it', async () => {
    const { id } = await served.running();
    served.fakes.first(runtimeRequests.remove, 1, () => {
      throw new DomainError('unavailable', 'service_unavailable', 'The host is away.');
    });
    await remove(id);
    await expect(served.get(id)).rejects.toMatchObject({ code: 'computer_not_found' });
    await expect(wake(id)).rejects.toMatchObject({ code: 'computer_not_found' });
    const page = await served.requester.request(computersRequests.list, {
      ...{ accountId: ACCOUNT, externalUserId: null, status: null, cursor: null, limit: 100 },
    });
    expect(page.items.map((computer) => computer.id)).not.toContain(id);
    await eventually(async () => expect((await history(id)).at(-1)).toBe('ComputerDeleted'), {
      timeoutMs: 15_000,
    });
    expect(served.fakes.boxes.has(id)).toBe(false);
  });
});
