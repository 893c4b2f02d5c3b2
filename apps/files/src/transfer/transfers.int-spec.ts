import { agentsRequests } from '@berth/contracts/agents';
import { FILE_LIMIT_BYTES, filesRequests } from '@berth/contracts/files';
import { runtimeRequests } from '@berth/contracts/runtime';
import { DomainError } from '@berth/kernel';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { awakeAt } from '../fixtures/fake-services.fixture.js';
import { ServedFiles, agentTarget } from '../fixtures/served-files.fixture.js';

const stale = (): never => {
  throw new DomainError('conflict', 'stale_epoch', 'Moved on.', { epoch: 9, state: 'running' });
};

describe('opening a transfer', () => {
  let files: ServedFiles;

  beforeAll(async () => {
    files = await ServedFiles.start();
  });
  afterAll(() => files.stop());
  beforeEach(() => files.fakes.reset());

  const tickets = () => files.fakes.requestsOf(runtimeRequests.openTransfer);
  const wakes = () => files.fakes.requestsOf(agentsRequests.ensureAwake);
  const list = (path: string | null, refusedEpoch: number | null = null) =>
    files.requester.request(filesRequests.openList, { ...agentTarget(), path, refusedEpoch });

  it('wakes the agent for a file and returns the ticket of its host with the epoch for which it is valid', async () => {
    expect(await list('notes')).toEqual({ url: 'http://host1/', ticket: 't1', host: 'host1', epoch: 1 });
    expect(wakes()).toMatchObject([{ kind: 'file', refusedEpoch: null, accountId: 'acc_1' }]);
    expect(tickets()).toMatchObject([{ epoch: 1, transfer: { kind: 'list', path: 'notes' } }]);
    await list(null);
    expect(tickets().at(-1)?.transfer).toEqual({ kind: 'list', path: null });
  });

  it('reaches the whole agent with an API key, and only its volume with any other credential, up to 100 MB', async () => {
    const path = '/etc/hosts';
    const end = { kind: 'end_user', id: 'eus_1' } as const;
    for (const envelope of [agentTarget(), agentTarget(end)])
      await files.requester.request(filesRequests.openDownload, { ...envelope, path, refusedEpoch: null });
    const limitBytes = FILE_LIMIT_BYTES;
    expect(tickets().map(({ transfer }) => transfer)).toEqual([
      { kind: 'download', path, within: 'agent', limitBytes },
      { kind: 'download', path, within: 'volume', limitBytes },
    ]);
  });

  it('stages each file under a new id and returns its location', async () => {
    const open = () =>
      files.requester.request(filesRequests.openStage, { ...agentTarget(), refusedEpoch: null });
    const [first, second] = [await open(), await open()];
    expect(first).toMatchObject({ epoch: 1, ticket: 't1', staged: { host: 'host1', epoch: 1 } });
    expect(second.staged.stagedId).not.toBe(first.staged.stagedId);
    const { stagedId } = first.staged;
    expect(tickets()[0]?.transfer).toEqual({ kind: 'stage', stagedId, limitBytes: FILE_LIMIT_BYTES });
  });

  it('passes on the epoch that the host rejected', async () => {
    expect(await list(null, 4)).toMatchObject({ epoch: 5 });
    expect(wakes()).toMatchObject([{ refusedEpoch: 4 }]);
  });

  it('wakes the agent again when it fell asleep before the host received the request', async () => {
    files.fakes.on(runtimeRequests.openTransfer, ({ epoch }) =>
      epoch < 3 ? stale() : { url: 'u', ticket: `t${epoch}` },
    );
    expect(await list(null)).toEqual({ url: 'u', ticket: 't3', host: 'host1', epoch: 3 });
    expect(wakes().map(({ refusedEpoch }) => refusedEpoch)).toEqual([null, 1, 2]);
  });

  it('gives up after the agent has fallen asleep five more times in the meantime', async () => {
    files.fakes.on(runtimeRequests.openTransfer, stale);
    await expect(list(null)).rejects.toMatchObject({ kind: 'unavailable', code: 'agent_unavailable' });
    expect(wakes()).toHaveLength(6);
  });

  it('reports the agent as unavailable when its guest cannot be reached', async () => {
    files.fakes.on(runtimeRequests.openTransfer, () => {
      throw new DomainError('unavailable', 'guest_unreachable', 'Gone.');
    });
    await expect(list(null)).rejects.toMatchObject({ kind: 'unavailable', code: 'agent_unavailable' });
  });

  it('reports the agent as unavailable when its host cannot be reached', async () => {
    files.fakes.on(agentsRequests.ensureAwake, (request) => ({ ...awakeAt(1, request), host: 'nowhere' }));
    await expect(list(null)).rejects.toMatchObject({ kind: 'unavailable', code: 'agent_unavailable' });
  });

  it.each(['agent_deploying', 'agent_stopped', 'agent_failed'])(
    'returns the error of an agent that cannot be woken: %s',
    async (code) => {
      files.fakes.on(agentsRequests.ensureAwake, () => {
        throw new DomainError('conflict', code, 'Not now.');
      });
      await expect(list(null)).rejects.toMatchObject({ kind: 'conflict', code });
      expect(tickets()).toEqual([]);
    },
  );

  it('does not wake the agent for an invalid path, but reports a missing agent first', async () => {
    const download = (path: string) =>
      files.requester.request(filesRequests.openDownload, { ...agentTarget(), path, refusedEpoch: null });
    for (const open of [list, download]) {
      await expect(open('a\0')).rejects.toMatchObject({ kind: 'invalid', code: 'invalid_path' });
      await expect(open('x'.repeat(256))).rejects.toMatchObject({ kind: 'invalid', code: 'invalid_path' });
    }
    files.fakes.on(agentsRequests.locate, () => {
      throw new DomainError('not_found', 'agent_not_found', 'There is no such agent.');
    });
    await expect(list('a\0')).rejects.toMatchObject({ kind: 'not_found', code: 'agent_not_found' });
    expect(wakes()).toEqual([]);
  });
});
