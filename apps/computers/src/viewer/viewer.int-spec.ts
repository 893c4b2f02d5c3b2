import { accountsEvents } from '@berth/contracts/accounts';
import { computersRequests, type OpenViewer } from '@berth/contracts/computers';
import { runtimeRequests } from '@berth/contracts/runtime';
import { newId } from '@berth/kernel';
import { eventually } from '@berth/testing';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { about, ACCOUNT, command, ServedComputers } from '../fixtures/served-computers.fixture.js';
import { RememberRevokedKeys } from '../react/remember-revoked-keys.js';

const SOON = { timeoutMs: 5_000, intervalMs: 50 };
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

const aSession = (members: Partial<OpenViewer> = {}): OpenViewer => ({
  ...{ ...about(id), mode: 'view', takeover: false, ttlSeconds: 900, secretHash: newId('req') },
  ...members,
});
const open = (request: OpenViewer) => served.requester.request(computersRequests.openViewer, request);
const find = (secretHash: string) => served.requester.request(computersRequests.findViewer, { secretHash });
const connect = (sessionId: string, members: object = {}) =>
  served.requester.request(computersRequests.connectViewer, {
    ...{ ...about(id), sessionId, refusedEpoch: null },
    ...members,
  });
const end = (sessionId: string) =>
  served.requester.request(computersRequests.endViewer, { ...about(id), sessionId });
const close = (sessionId: string | null, members: object = {}) =>
  served.requester.request(computersRequests.closeSessions, { ...about(id), sessionId, ...members });
const sleep = () => served.requester.request(computersRequests.sleep, about(id));
const sessions = async () => {
  const of = { accountId: ACCOUNT, computerId: id };
  return (await served.requester.request(computersRequests.listSessions, of)).items;
};
const ends = async (sessionId: string): Promise<readonly unknown[]> =>
  (await served.history(`viewerSession-${sessionId}`))
    .filter(({ type }) => type === 'ViewerSessionEnded')
    .map(({ data }) => data['reason']);
const untilEnded = (sessionId: string, reason: string): Promise<void> =>
  eventually(async () => expect(await ends(sessionId)).toEqual([reason]), SOON);
const closedSockets = () => served.fakes.about(id, runtimeRequests.closeViewers);

describe('a viewer session', () => {
  it('wakes the computer, waits for its socket, and is found by the hash of its secret', async () => {
    await sleep();
    const request = aSession({ mode: 'control', takeover: true });
    const session = await open(request);
    expect(session).toMatchObject({ mode: 'control', takeover: true, status: 'waiting', openedAt: null });
    expect(Date.parse(session.expiresAt) - Date.parse(session.createdAt)).toBe(900_000);
    expect(await find(request.secretHash)).toEqual({
      ...{ accountId: ACCOUNT, computerId: id, session, keyId: 'key_1' },
    });
    expect(await sessions()).toEqual([session]);
    expect(await served.get(id)).toMatchObject({ status: 'running' });
  });

  it('is one session for a command that is sent again', async () => {
    const request = aSession();
    expect(await open(request)).toEqual(await open(request));
    expect(await sessions()).toHaveLength(1);
  });

  it('is used up by its first socket, whose command may be sent again; a second one is refused', async () => {
    const { sessionId } = await open(aSession({ mode: 'control' }));
    const { commandId } = command();
    const first = await connect(sessionId, { commandId });
    expect(first).toMatchObject({ host: 'host1', epoch: 1 });
    expect(await connect(sessionId, { commandId })).toEqual(first);
    served.fakes.boxes.set(id, { epoch: 1, state: 'frozen' });
    expect(await connect(sessionId, { commandId, refusedEpoch: 1 })).toMatchObject({ epoch: 2 });
    expect(served.fakes.about(id, runtimeRequests.openTransfer).at(-1)).toMatchObject({
      transfer: { kind: 'vnc', sessionId, mode: 'control', takeover: false },
    });
    expect(await sessions()).toMatchObject([{ sessionId, status: 'open' }]);
    await expect(connect(sessionId)).rejects.toMatchObject({ kind: 'forbidden', code: 'session_used' });
  });

  it('wakes nobody when its socket is refused', async () => {
    const { sessionId } = await open(aSession());
    await connect(sessionId);
    await end(sessionId);
    await sleep();
    await expect(connect(sessionId)).rejects.toMatchObject({ code: 'session_used' });
    await expect(connect(newId('vws'))).rejects.toMatchObject({ code: 'session_not_found' });
    expect(await served.get(id)).toMatchObject({ status: 'sleeping' });
  });

  it('is over when its socket closes', async () => {
    const request = aSession();
    const { sessionId } = await open(request);
    await connect(sessionId);
    await end(sessionId);
    expect(await ends(sessionId)).toEqual(['socket']);
    await expect(find(request.secretHash)).rejects.toMatchObject({ code: 'session_not_found' });
    expect(await sessions()).toEqual([]);
  });

  it('ends with the sleep of its computer if it is open, and waits on if not', async () => {
    const [waiting, opened] = [await open(aSession()), await open(aSession())];
    await connect(opened.sessionId);
    await sleep();
    expect(await sessions()).toEqual([waiting]);
    await untilEnded(opened.sessionId, 'computer');
    expect(closedSockets()[0]).toEqual({ agentId: id, sessionIds: null });
    expect(await connect(waiting.sessionId)).toMatchObject({ epoch: 2 });
    expect(await ends(waiting.sessionId)).toEqual([]);
  });

  it('ends with the deletion of its computer', async () => {
    const request = aSession();
    const { sessionId } = await open(request);
    await served.requester.request(computersRequests.delete, about(id));
    await expect(find(request.secretHash)).rejects.toMatchObject({ code: 'session_not_found' });
    await untilEnded(sessionId, 'computer');
  });

  it('ends when it expires, and its socket with it', async () => {
    const request = aSession({ ttlSeconds: 1 });
    const { sessionId } = await open(request);
    await connect(sessionId);
    await untilEnded(sessionId, 'expired');
    await eventually(() => expect(closedSockets()).toEqual([{ agentId: id, sessionIds: [sessionId] }]), SOON);
    await expect(find(request.secretHash)).rejects.toMatchObject({ code: 'session_not_found' });
  });

  it('ends when its key is revoked, however often the event of it arrives', async () => {
    const keyId = newId('key');
    const request = aSession({ actor: { kind: 'key', id: keyId } });
    const { sessionId } = await open(request);
    await connect(sessionId);
    const at = new Date().toISOString();
    const event = {
      ...{ id: newId('req'), position: 1n, delivery: 1, recordedAt: new Date(), subject: '' },
      ...{ context: 'accounts', name: accountsEvents.keyRevoked.name, version: 1 },
      ...{ accountId: ACCOUNT, subjectId: keyId, payload: { accountId: ACCOUNT, keyId, at } },
    };
    const reaction = new RememberRevokedKeys();
    for (let times = 0; times < 2; times++)
      await served.database.transaction((tx) => reaction.handle(event, tx));
    await expect(find(request.secretHash)).rejects.toMatchObject({ code: 'session_not_found' });
    await untilEnded(sessionId, 'key');
    await eventually(() => expect(closedSockets()).toHaveLength(1), SOON);
    await served.database.transaction((tx) => reaction.forgetAfter(null, tx));
    expect(await served.database.query('SELECT * FROM revoked_keys')).toEqual([]);
  });
});

describe('closing sessions', () => {
  it('ends one or all of a computer, says how many, and closes their sockets', async () => {
    const [first, second, third] = [await open(aSession()), await open(aSession()), await open(aSession())];
    await connect(second.sessionId);
    expect(await close(first.sessionId)).toEqual({ closed: 1 });
    expect(await close(first.sessionId)).toEqual({ closed: 0 });
    const { commandId } = command();
    expect(await close(null, { commandId })).toEqual({ closed: 2 });
    expect(await close(null, { commandId })).toEqual({ closed: 2 });
    expect(closedSockets()).toEqual([{ agentId: id, sessionIds: [second.sessionId] }]);
    expect(await ends(third.sessionId)).toEqual(['closed']);
    const uses = await served.history(`computerUse-${id}`);
    expect(uses.map(({ type, data }) => [type, data['sessions']])).toEqual([
      ['ViewerSessionsClosed', 1],
      ['ViewerSessionsClosed', 2],
    ]);
  });

  it('leaves those of another computer, and wakes nobody', async () => {
    const { sessionId } = await open(aSession());
    const other = id;
    ({ id } = await served.running());
    await sleep();
    expect(await close(sessionId)).toEqual({ closed: 0 });
    expect(await close(newId('vws'))).toEqual({ closed: 0 });
    expect(await served.get(id)).toMatchObject({ status: 'sleeping' });
    id = other;
    expect(await sessions()).toHaveLength(1);
  });
});
