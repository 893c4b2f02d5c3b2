import { agentsRequests } from '@berth/contracts/agents';
import { filesRequests } from '@berth/contracts/files';
import { runtimeRequests, type ChangeFile, type FileChange } from '@berth/contracts/runtime';
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
  files.fakes.on(runtimeRequests.changeFile, anyChange);
});

/** Script of a host on which every change succeeds. */
const anyChange = ({ command }: ChangeFile): FileChange => {
  switch (command.op) {
    case 'move':
      return { path: `/data/${command.to}`, from: `/data/${command.from}`, name: command.to, size: 0 };
    case 'commit':
      return { path: '/data/somewhere/a.txt', name: 'a.txt', size: 7 };
    default:
      return { path: `/data/${'path' in command ? command.path : ''}`, name: 'x', size: 0 };
  }
};

const refusing = (kind: ErrorKind, code: string, effect?: Effect) => (): never => {
  throw new DomainError(kind, code, 'No.', {}, effect === undefined ? {} : { effect });
};
const changeRequests = () => files.fakes.requestsOf(runtimeRequests.changeFile);
const wakes = () => files.fakes.requestsOf(agentsRequests.ensureAwake);
const gate = () => Promise.withResolvers<void>();

const move = (envelope = agentTarget()) =>
  files.requester.request(filesRequests.move, { ...envelope, from: 'a', to: 'b' });
const remove = (envelope = agentTarget()) =>
  files.requester.request(filesRequests.delete, { ...envelope, path: 'a' });
const mkdir = (envelope = agentTarget(), path = 'a') =>
  files.requester.request(filesRequests.mkdir, { ...envelope, path });

describe('a change', () => {
  it('is recorded before and after it is made, with its actor and its canonical path', async () => {
    const envelope = agentTarget();
    let before: readonly string[] = [];
    files.fakes.on(runtimeRequests.changeFile, async (request) => {
      before = await files.auditTypes(envelope.commandId);
      return anyChange(request);
    });
    expect(await move(envelope)).toEqual({ from: '/data/a', to: '/data/b' });
    expect(before).toEqual(['FileChangeRequested.v2']);
    const [requested, changed] = await files.audit(envelope.commandId);
    expect(requested?.data).toMatchObject({
      op: 'move',
      personal: { endUserId: null, data: { path: 'a', to: 'b' } },
      agentId: envelope.agentId,
    });
    expect(changed).toMatchObject({
      type: 'FileChanged.v2',
      data: { personal: { endUserId: null, data: { path: '/data/b', from: '/data/a' } } },
    });
    for (const event of [requested, changed])
      expect(event?.metadata).toMatchObject({ accountId: 'acc_1', actor: { kind: 'key', id: 'key_1' } });
  });

  it('returns and records the error of the guest', async () => {
    const envelope = agentTarget();
    files.fakes.on(runtimeRequests.changeFile, refusing('conflict', 'destination_exists'));
    await expect(move(envelope)).rejects.toMatchObject({ kind: 'conflict', code: 'destination_exists' });
    const [, refused] = await files.audit(envelope.commandId);
    expect(refused).toMatchObject({ type: 'FileChangeRefused', data: { code: 'destination_exists' } });
  });

  it('is retried at the new host when the agent fell asleep and woke up elsewhere', async () => {
    files.fakes.on(runtimeRequests.changeFile, (request) =>
      request.epoch < 3 ? refusing('conflict', 'stale_epoch')() : anyChange(request),
    );
    expect(await mkdir()).toEqual({ path: '/data/a' });
    expect(wakes().map(({ refusedEpoch }) => refusedEpoch)).toEqual([null, 1, 2]);
  });

  it('fails with an unambiguous error when the agent cannot be woken again', async () => {
    const envelope = agentTarget();
    files.fakes.on(runtimeRequests.changeFile, refusing('not_found', 'agent_not_on_host'));
    files.fakes.on(agentsRequests.ensureAwake, (request) =>
      request.refusedEpoch === null
        ? { agentId: request.agentId, host: 'host1', epoch: 1, guest: { version: '1', capabilities: [] } }
        : refusing('timeout', 'deadline_exceeded')(),
    );
    await expect(mkdir(envelope)).rejects.toMatchObject({ code: 'agent_unavailable', context: {} });
    expect(await files.auditTypes(envelope.commandId)).toEqual([
      'FileChangeRequested.v2',
      'FileChangeRefused',
    ]);
  });

  it('records nothing when the agent is not awake', async () => {
    const envelope = agentTarget();
    files.fakes.on(agentsRequests.ensureAwake, refusing('conflict', 'agent_stopped'));
    await expect(remove(envelope)).rejects.toMatchObject({ code: 'agent_stopped' });
    expect([await files.auditTypes(envelope.commandId), changeRequests()]).toEqual([[], []]);
  });

  it('does not wake the agent for an invalid path, records nothing, and reports a missing agent first', async () => {
    const to = 'x'.repeat(256);
    const bad = () => files.requester.request(filesRequests.move, { ...agentTarget(), from: 'a', to });
    await expect(bad()).rejects.toMatchObject({ kind: 'invalid', code: 'invalid_path' });
    await expect(mkdir(agentTarget(), 'a\0')).rejects.toMatchObject({ code: 'invalid_path' });
    files.fakes.on(agentsRequests.locate, refusing('not_found', 'agent_not_found'));
    await expect(bad()).rejects.toMatchObject({ code: 'agent_not_found' });
    expect([wakes(), changeRequests()]).toEqual([[], []]);
  });
});

describe('a change whose outcome is lost', () => {
  it.each([
    ['unavailable', 'guest_unreachable'],
    ['timeout', 'deadline_exceeded'],
    ['internal', 'internal_error'],
  ] as const)('is reported as possibly made and keeps no outcome: %s', async (kind, code) => {
    const envelope = agentTarget();
    files.fakes.on(runtimeRequests.changeFile, refusing(kind, code));
    await expect(move(envelope)).rejects.toMatchObject({
      kind: 'unavailable',
      code: 'agent_unavailable',
      effect: 'unknown',
    });
    expect(changeRequests()).toHaveLength(1);
    expect(await files.auditTypes(envelope.commandId)).toEqual(['FileChangeRequested.v2']);
  });

  it('is reported as possibly made when the host died', async () => {
    const envelope = agentTarget();
    const { promise: never } = Promise.withResolvers<FileChange>();
    files.fakes.on(runtimeRequests.changeFile, () => never);
    const moved = move(envelope);
    moved.catch(() => undefined);
    await eventually(() => changeRequests().length === 1);
    await files.fakes.die();
    try {
      await expect(moved).rejects.toMatchObject({ effect: 'unknown' });
    } finally {
      await files.fakes.open();
    }
    expect(await files.auditTypes(envelope.commandId)).toEqual(['FileChangeRequested.v2']);
  });

  it('is attempted again when the same command is sent again', async () => {
    const envelope = agentTarget();
    files.fakes.on(runtimeRequests.changeFile, refusing('unavailable', 'guest_unreachable'));
    await expect(move(envelope)).rejects.toMatchObject({ effect: 'unknown' });
    files.fakes.on(runtimeRequests.changeFile, anyChange);
    expect(await move(envelope)).toEqual({ from: '/data/a', to: '/data/b' });
    expect(await files.auditTypes(envelope.commandId)).toEqual(['FileChangeRequested.v2', 'FileChanged.v2']);
  });

  it.each([
    ['source_not_found', 'not_found', move],
    ['destination_exists', 'conflict', move],
    ['path_not_found', 'not_found', remove],
  ] as const)(
    'does not mistake the effects of its first attempt for a failure: %s',
    async (code, kind, change) => {
      const envelope = agentTarget();
      files.fakes.on(runtimeRequests.changeFile, refusing('unavailable', 'guest_unreachable'));
      await expect(change(envelope)).rejects.toMatchObject({ effect: 'unknown' });
      files.fakes.on(runtimeRequests.changeFile, refusing(kind, code));
      await expect(change(envelope)).rejects.toMatchObject({ effect: 'unknown' });
      expect(await files.auditTypes(envelope.commandId)).toEqual(['FileChangeRequested.v2']);
    },
  );

  it('keeps no outcome while a further attempt is refused for a moment, so that the same command can still make it', async () => {
    const envelope = agentTarget();
    files.fakes.on(runtimeRequests.changeFile, refusing('unavailable', 'guest_unreachable'));
    await expect(move(envelope)).rejects.toMatchObject({ effect: 'unknown' });
    files.fakes.on(runtimeRequests.changeFile, refusing('unavailable', 'agent_unavailable', 'none'));
    await expect(move(envelope)).rejects.toMatchObject({ code: 'agent_unavailable', effect: 'unknown' });
    files.fakes.on(runtimeRequests.changeFile, anyChange);
    expect(await move(envelope)).toEqual({ from: '/data/a', to: '/data/b' });
    expect(await files.auditTypes(envelope.commandId)).toEqual(['FileChangeRequested.v2', 'FileChanged.v2']);
  });

  it('returns the result of an earlier attempt that made it meanwhile', async () => {
    const envelope = agentTarget();
    files.fakes.on(runtimeRequests.changeFile, refusing('unavailable', 'guest_unreachable'));
    await expect(move(envelope)).rejects.toMatchObject({ effect: 'unknown' });
    const made = { path: '/data/b', from: '/data/a', name: 'b' };
    files.fakes.on(runtimeRequests.changeFile, async () => {
      await files.recordChanged(envelope, made);
      return refusing('conflict', 'path_exists', 'none')();
    });
    expect(await move(envelope)).toEqual({ from: '/data/a', to: '/data/b' });
    expect(await files.auditTypes(envelope.commandId)).toEqual(['FileChangeRequested.v2', 'FileChanged.v2']);
  });

  it('fails when the error of the second attempt cannot be an effect of the first', async () => {
    const envelope = agentTarget();
    files.fakes.on(runtimeRequests.changeFile, refusing('unavailable', 'guest_unreachable'));
    await expect(move(envelope)).rejects.toMatchObject({ effect: 'unknown' });
    files.fakes.on(runtimeRequests.changeFile, refusing('invalid', 'path_outside_volume'));
    await expect(move(envelope)).rejects.toMatchObject({ code: 'path_outside_volume' });
    expect(await files.auditTypes(envelope.commandId)).toEqual([
      'FileChangeRequested.v2',
      'FileChangeRefused',
    ]);
  });
});

describe('the same command sent again', () => {
  it('returns the first result and changes nothing', async () => {
    const envelope = agentTarget();
    const first = await move(envelope);
    files.fakes.on(runtimeRequests.changeFile, refusing('not_found', 'source_not_found'));
    expect(await move(envelope)).toEqual(first);
    expect(changeRequests()).toHaveLength(1);
  });

  it.each([
    ['not_found', 'source_not_found'],
    ['unavailable', 'agent_unavailable'],
  ] as const)(
    'fails for good with the first error and changes nothing, so that only another command can: %s %s',
    async (kind, code) => {
      const envelope = agentTarget();
      const refused = { kind, code, effect: 'final' };
      files.fakes.on(runtimeRequests.changeFile, refusing(kind, code, 'none'));
      await expect(move(envelope)).rejects.toMatchObject(refused);
      files.fakes.on(runtimeRequests.changeFile, anyChange);
      await expect(move(envelope)).rejects.toMatchObject(refused);
      expect(changeRequests()).toHaveLength(1);
    },
  );

  it('gets the same response from another process', async () => {
    const envelope = agentTarget();
    const first = await move(envelope);
    await files.restart();
    files.fakes.on(runtimeRequests.changeFile, refusing('not_found', 'source_not_found'));
    expect(await move(envelope)).toEqual(first);
    expect(changeRequests()).toHaveLength(1);
  });

  it('joins the change while it runs', async () => {
    const envelope = agentTarget();
    const open = gate();
    files.fakes.on(runtimeRequests.changeFile, async (request) => {
      await open.promise;
      return anyChange(request);
    });
    const both = [move(envelope), move(envelope)];
    await eventually(() => changeRequests().length === 1 && wakes().length === 2);
    open.resolve();
    const [one, other] = await Promise.all(both);
    expect(other).toEqual(one);
    expect(changeRequests()).toHaveLength(1);
  });
});

describe('while the event store is unreachable', () => {
  it('a change that was made is reported as made and recorded once the event store is back', async () => {
    const envelope = agentTarget();
    files.fakes.on(runtimeRequests.changeFile, (request) => {
      files.logProxy.cut({ refuse: true });
      return anyChange(request);
    });
    try {
      expect(await move(envelope)).toEqual({ from: '/data/a', to: '/data/b' });
      expect(await files.auditTypes(envelope.commandId)).toEqual(['FileChangeRequested.v2']);
    } finally {
      files.logProxy.restore();
    }
    await eventually(
      async () =>
        expect(await files.auditTypes(envelope.commandId)).toEqual([
          'FileChangeRequested.v2',
          'FileChanged.v2',
        ]),
      { timeoutMs: 20_000 },
    );
  });

  it('nothing is changed, because it could not be recorded', async () => {
    files.logProxy.cut({ refuse: true });
    try {
      await expect(move()).rejects.toMatchObject({ kind: 'unavailable', code: 'service_unavailable' });
    } finally {
      files.logProxy.restore();
    }
    expect(changeRequests()).toEqual([]);
    await eventually(() => move(), { timeoutMs: 20_000 });
  });
});
