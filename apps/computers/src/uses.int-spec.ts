import { computersRequests, type OpenActions } from '@berth/contracts/computers';
import { runtimeRequests } from '@berth/contracts/runtime';
import { DomainError } from '@berth/kernel';
import { eventually } from '@berth/testing';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { about, ServedComputers } from './fixtures/served-computers.fixture.js';

let served: ServedComputers;
let id: string;

beforeAll(async () => {
  served = await ServedComputers.start();
});
afterAll(() => served.stop());
beforeEach(async () => {
  served.fakes.reset();
  ({ id } = await served.running());
});

const used = async (): Promise<readonly object[]> =>
  (await served.history(`computerUse-${id}`)).map(({ type, data }) => ({ type, data }));
const sleep = (): Promise<unknown> => served.requester.request(computersRequests.sleep, about(id));
const aBatch = (): OpenActions => ({ ...about(id), actions: 3, refusedEpoch: null });
const open = (batch: OpenActions) => served.requester.request(computersRequests.openActions, batch);
const wakes = (): number => served.fakes.about(id, runtimeRequests.thaw).length;

describe('a batch of actions', () => {
  it('gets a ticket of the host, which is woken first, and is recorded with its count', async () => {
    await sleep();
    const batch = aBatch();
    expect(await open(batch)).toEqual({
      url: 'http://host1/',
      ticket: 'ticket of 2',
      host: 'host1',
      epoch: 2,
    });
    expect(served.fakes.about(id, runtimeRequests.openTransfer)).toMatchObject([
      { epoch: 2, transfer: { kind: 'actions' } },
    ]);
    const data = { computerId: id, batchId: batch.commandId, actions: 3 };
    expect(await used()).toMatchObject([{ type: 'ActionsOpened', data }]);
  });

  it('is recorded once when it gets another ticket, and its results once however often they are reported', async () => {
    const batch = aBatch();
    const { epoch } = await open(batch);
    served.fakes.boxes.set(id, { epoch, state: 'frozen' });
    expect(await open({ ...batch, refusedEpoch: epoch })).toMatchObject({ epoch: 2 });
    const report = { ...about(id), commandId: batch.commandId, results: 3, images: 1 };
    await served.requester.request(computersRequests.reportActions, report);
    await served.requester.request(computersRequests.reportActions, report);
    expect(await used()).toMatchObject([
      { type: 'ActionsOpened' },
      { type: 'ActionsDone', data: { batchId: batch.commandId, results: 3, images: 1 } },
    ]);
  });

  it('wakes the computer again when its host has frozen it in the same moment', async () => {
    served.fakes.boxes.set(id, { epoch: 1, state: 'frozen' });
    expect(await open(aBatch())).toMatchObject({ epoch: 2 });
    expect(wakes()).toBe(1);
  });

  it('is refused for a computer that has failed, until a wake has started it again', async () => {
    await sleep();
    served.fakes.boxes.delete(id);
    served.fakes.first(runtimeRequests.start, 1, () => {
      throw new DomainError('upstream', 'agent_start_failed', 'The desktop did not start.');
    });
    await expect(open(aBatch())).rejects.toMatchObject({ kind: 'conflict', code: 'computer_failed' });
    await expect(open(aBatch())).rejects.toMatchObject({ code: 'computer_failed' });
    expect(await served.get(id)).toMatchObject({ status: 'failed' });
    const { computer } = await served.requester.request(computersRequests.wake, about(id));
    expect(computer.status).toBe('running');
    expect(await open(aBatch())).toMatchObject({ host: 'host1' });
  });

  it('is use: the computer is active from then on', async () => {
    const before = await served.get(id);
    await open(aBatch());
    await eventually(async () =>
      expect(Date.parse((await served.get(id)).lastActiveAt)).toBeGreaterThan(
        Date.parse(before.lastActiveAt),
      ),
    );
  });
});

describe('a screenshot', () => {
  it('is counted with the others of its second, each command once', async () => {
    const shot = () => ({ ...about(id), refusedEpoch: null, format: 'png', quality: 80, scale: 1 }) as const;
    const repeated = shot();
    for (const one of [shot(), repeated, repeated])
      await served.requester.request(computersRequests.openScreenshot, one);
    await eventually(async () => expect(await used()).toHaveLength(1), { timeoutMs: 5_000 });
    expect(await used()).toMatchObject([{ type: 'ScreenshotsTaken', data: { count: 2 } }]);
    expect(served.fakes.about(id, runtimeRequests.openTransfer)[0]).toMatchObject({
      transfer: { kind: 'screenshot', format: 'png', quality: 80, scale: 1 },
    });
  });
});

describe('a command', () => {
  const aCommand = () => ({ ...about(id), command: 'echo ü', cwd: null, env: {}, timeoutSeconds: 5 });
  const run = (members: object = {}) =>
    served.requester.request(computersRequests.exec, { ...aCommand(), ...members });

  it('returns its output, and is recorded by its size and hash alone', async () => {
    expect(await run()).toMatchObject({ status: 'completed', exitCode: 0, stdout: 'done', stderr: '' });
    expect(served.fakes.about(id, runtimeRequests.execute)).toMatchObject([{ wait: true, timeoutMs: 5_000 }]);
    expect(await used()).toMatchObject([{ type: 'ComputerCommandRun', data: { commandBytes: 7 } }]);
    expect(JSON.stringify(await used())).not.toContain('echo');
  });

  it.each([
    ['may have been started, is not repeated', 'internal', 'boom', 'execution_outcome_unknown'],
    ['was not started, has that error', 'invalid', 'invalid_cwd', 'invalid_cwd'],
  ] as const)('that %s', async (_, kind, code, expected) => {
    served.fakes.on(runtimeRequests.execute, () => {
      throw new DomainError(kind, code, 'It did not work.');
    });
    await expect(run()).rejects.toMatchObject({ code: expected });
    expect(served.fakes.about(id, runtimeRequests.execute)).toHaveLength(1);
  });
});

describe('a file', () => {
  const stage = (path: string) =>
    served.requester.request(computersRequests.openStage, { ...about(id), path, refusedEpoch: null });

  it('is put in its place once it was received, and recorded by its size alone', async () => {
    const { staged } = await stage('notes.txt');
    const put = { ...about(id), staged, path: 'notes.txt' };
    const written = { path: '/volume/notes.txt', name: 'notes.txt', size: 5 };
    expect(await served.requester.request(computersRequests.put, put)).toEqual(written);
    expect(await used()).toMatchObject([{ type: 'ComputerFileWritten', data: { bytes: 5 } }]);
    expect(JSON.stringify(await used())).not.toContain('notes');
  });

  it('is lost with the computer that went away in between', async () => {
    const { staged } = await stage('notes.txt');
    await sleep();
    const put = { ...about(id), staged, path: 'notes.txt' };
    await expect(served.requester.request(computersRequests.put, put)).rejects.toMatchObject({
      code: 'transfer_lost',
    });
    expect(await used()).toEqual([]);
  });

  it('is read within the home folder', async () => {
    const transfer = { ...about(id), path: 'a', refusedEpoch: null };
    await served.requester.request(computersRequests.openDownload, transfer);
    await served.requester.request(computersRequests.openList, { ...transfer, path: null });
    expect(served.fakes.about(id, runtimeRequests.openTransfer)).toMatchObject([
      { transfer: { kind: 'download', path: 'a', within: 'volume' } },
      { transfer: { kind: 'list', path: null } },
    ]);
  });

  it('of an invalid path is refused without waking the computer', async () => {
    await sleep();
    const transfer = { ...about(id), path: 'a\0b', refusedEpoch: null };
    const { requester } = served;
    const refused = [
      requester.request(computersRequests.openList, transfer),
      requester.request(computersRequests.openDownload, transfer),
      requester.request(computersRequests.openStage, transfer),
    ];
    for (const one of refused) await expect(one).rejects.toMatchObject({ code: 'invalid_path' });
    expect(await served.get(id)).toMatchObject({ status: 'sleeping' });
  });
});
