import { agentsRequests } from '@berth/contracts/agents';
import { deliveryRequests } from '@berth/contracts/delivery';
import { filesRequests } from '@berth/contracts/files';
import { runtimeRequests } from '@berth/contracts/runtime';
import { DomainError, type Effect, type ErrorKind } from '@berth/kernel';
import { eventually } from '@berth/testing';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { ServedFiles, agentTarget } from '../fixtures/served-files.fixture.js';

let files: ServedFiles;

beforeAll(async () => {
  files = await ServedFiles.start();
});
afterAll(() => files.stop());
beforeEach(() => {
  files.fakes.reset();
  files.fakes.on(runtimeRequests.changeFile, () => PUT);
});

const PUT = { path: '/data/inbox/a.txt', name: 'a.txt', size: 7 };
const staged = { stagedId: 'stg_1', host: 'host1', epoch: 4 };

const refusing = (kind: ErrorKind, code: string, effect?: Effect) => (): never => {
  throw new DomainError(kind, code, 'No.', {}, effect === undefined ? {} : { effect });
};
const changeRequests = () => files.fakes.requestsOf(runtimeRequests.changeFile);
const notifications = () => files.fakes.requestsOf(deliveryRequests.deliverAttachment);

const write = (envelope = agentTarget(), path = 'notes/a.txt') =>
  files.requester.request(filesRequests.put, { ...envelope, staged, target: { kind: 'path', path } });
const upload = (envelope = agentTarget(), folder = 'notes', name = 'a.txt') =>
  files.requester.request(filesRequests.put, {
    ...envelope,
    staged,
    target: { kind: 'folder', folder, name },
  });
const attach = (envelope = agentTarget(), message: string | null = 'look', name = 'a.txt') =>
  files.requester.request(filesRequests.putAttachment, { ...envelope, staged, name, message });

describe('a staged file', () => {
  it('is put at its host and epoch without waking the agent', async () => {
    expect(await write()).toEqual(PUT);
    expect(await upload()).toEqual(PUT);
    expect(changeRequests()).toMatchObject([
      {
        epoch: 4,
        command: { op: 'commit', stagedId: 'stg_1', target: { kind: 'path', path: 'notes/a.txt' } },
      },
      { epoch: 4, command: { target: { kind: 'folder', folder: 'notes', name: 'a.txt' } } },
    ]);
    expect(files.fakes.requestsOf(agentsRequests.ensureAwake)).toEqual([]);
  });

  it.each([
    ['write', write, 'notes/a.txt'],
    ['upload', upload, 'notes/a.txt'],
    ['attach', attach, 'a.txt'],
  ] as const)('is recorded under its operation: %s', async (op, put, path) => {
    const envelope = agentTarget();
    await put(envelope);
    const [requested, changed] = await files.audit(envelope.commandId);
    expect(requested?.data).toMatchObject({ op, personal: { endUserId: null, data: { path } } });
    expect(changed).toMatchObject({
      type: 'FileChanged.v2',
      data: { personal: { data: { path: PUT.path, name: PUT.name } }, size: PUT.size },
    });
  });

  it.each([
    ['conflict', 'stale_epoch'],
    ['not_found', 'agent_not_on_host'],
    ['not_found', 'staged_file_unknown'],
  ] as const)(
    'that is gone with its agent fails with a request to send it again: %s %s',
    async (kind, code) => {
      const envelope = agentTarget();
      files.fakes.on(runtimeRequests.changeFile, refusing(kind, code));
      await expect(write(envelope)).rejects.toMatchObject({ kind: 'unavailable', code: 'transfer_lost' });
      const [, refused] = await files.audit(envelope.commandId);
      expect(refused).toMatchObject({ type: 'FileChangeRefused', data: { code: 'transfer_lost' } });
    },
  );

  it('at an unreachable host is certainly not put', async () => {
    const envelope = agentTarget();
    const target = { kind: 'path', path: 'a' } as const;
    const put = { ...envelope, staged: { ...staged, host: 'nowhere' }, target };
    await expect(files.requester.request(filesRequests.put, put)).rejects.toMatchObject({
      code: 'agent_unavailable',
      context: {},
    });
    const [, refused] = await files.audit(envelope.commandId);
    expect(refused).toMatchObject({ type: 'FileChangeRefused', data: { code: 'agent_unavailable' } });
  });

  it.each([
    ['conflict', 'path_exists'],
    ['invalid', 'path_outside_volume'],
    ['full', 'volume_full'],
  ] as const)('fails with the error of the guest: %s %s', async (kind, code) => {
    const envelope = agentTarget();
    files.fakes.on(runtimeRequests.changeFile, refusing(kind, code, 'none'));
    await expect(upload(envelope)).rejects.toMatchObject({ kind, code });
    expect(await files.auditTypes(envelope.commandId)).toEqual([
      'FileChangeRequested.v2',
      'FileChangeRefused',
    ]);
  });

  it('is put under the last segment of its name, and rejected if its name or path is invalid', async () => {
    await upload(agentTarget(), 'notes', '../../etc/a.txt');
    expect(changeRequests()).toMatchObject([{ command: { target: { folder: 'notes', name: 'a.txt' } } }]);
    await expect(upload(agentTarget(), 'notes', '..')).rejects.toMatchObject({ code: 'invalid_path' });
    await expect(upload(agentTarget(), 'n\0', 'a')).rejects.toMatchObject({ code: 'invalid_path' });
    await expect(write(agentTarget(), 'x'.repeat(256))).rejects.toMatchObject({ code: 'invalid_path' });
    await expect(attach(agentTarget(), null, 'x'.repeat(256))).rejects.toMatchObject({
      code: 'invalid_path',
    });
    expect(changeRequests()).toHaveLength(1);
  });

  it('is discarded when its command has already put its file', async () => {
    const envelope = agentTarget();
    await write(envelope);
    const target = { kind: 'path', path: 'notes/a.txt' } as const;
    const again = { ...envelope, staged: { ...staged, stagedId: 'stg_2' }, target };
    expect(await files.requester.request(filesRequests.put, again)).toEqual(PUT);
    expect(changeRequests().map(({ command }) => command)).toMatchObject([
      { op: 'commit', stagedId: 'stg_1' },
      { op: 'discard', stagedId: 'stg_2' },
    ]);
  });

  it('is discarded silently, whatever the host returns', async () => {
    const discard = () => files.requester.request(filesRequests.discard, { agentId: 'agt_1', staged });
    expect(await discard()).toEqual({});
    expect(changeRequests()).toMatchObject([{ epoch: 4, command: { op: 'discard', stagedId: 'stg_1' } }]);
    files.fakes.on(runtimeRequests.changeFile, refusing('internal', 'internal_error'));
    expect(await discard()).toEqual({});
  });
});

describe('an attachment', () => {
  it('is put into the inbox, and the agent gets its path and the message of the sender', async () => {
    const envelope = agentTarget();
    expect(await attach(envelope)).toEqual(PUT);
    expect(changeRequests()).toMatchObject([{ command: { target: { kind: 'inbox', name: 'a.txt' } } }]);
    const { commandId, agentId } = envelope;
    expect(notifications()).toMatchObject([{ commandId, agentId, message: 'look', attachment: PUT }]);
  });

  it('that cannot be put is not announced', async () => {
    files.fakes.on(runtimeRequests.changeFile, refusing('full', 'volume_full'));
    await expect(attach()).rejects.toMatchObject({ code: 'volume_full' });
    expect(notifications()).toEqual([]);
  });

  it('stays when the agent cannot be notified', async () => {
    files.fakes.on(deliveryRequests.deliverAttachment, refusing('not_found', 'agent_not_found'));
    expect(await attach()).toEqual(PUT);
  });

  it('is announced later under the same command id when delivery is down', async () => {
    let away = true;
    files.fakes.on(deliveryRequests.deliverAttachment, () =>
      away ? refusing('unavailable', 'service_unavailable')() : { deliveryId: 'dlv_1' },
    );
    const envelope = agentTarget();
    expect(await attach(envelope)).toEqual(PUT);
    const before = notifications().length;
    away = false;
    await eventually(() => notifications().length > before);
    expect(new Set(notifications().map(({ commandId }) => commandId))).toEqual(new Set([envelope.commandId]));
  });

  it('is put once and announced under the same command id when its command is repeated', async () => {
    const envelope = agentTarget();
    await attach(envelope);
    expect(await attach(envelope)).toEqual(PUT);
    expect(changeRequests().filter(({ command }) => command.op === 'commit')).toHaveLength(1);
    expect(notifications().every(({ commandId }) => commandId === envelope.commandId)).toBe(true);
  });
});
