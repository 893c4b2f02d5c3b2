import { agentsRequests } from '@berth/contracts/agents';
import { endUsersRequests } from '@berth/contracts/end-users';
import { filesRequests } from '@berth/contracts/files';
import { runtimeRequests } from '@berth/contracts/runtime';
import { DomainError, effectOf, newId } from '@berth/kernel';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { awakeAt } from '../fixtures/fake-services.fixture.js';
import { agentTarget, ServedFiles } from '../fixtures/served-files.fixture.js';

const PUT = { path: '/data/CANARY.txt', name: 'CANARY.txt', size: 7 };
const MOVED = { path: '/data/CANARY-to', from: '/data/CANARY-from', name: 'CANARY-to', size: 0 };
const KEY = Buffer.alloc(32, 5).toString('base64');

let files: ServedFiles;
/** Another one in each test: `files` keeps keys. */
let endUserId: string;

beforeAll(async () => {
  files = await ServedFiles.start();
});
afterAll(() => files.stop());
beforeEach(() => {
  endUserId = newId('eus');
  files.fakes.reset();
  files.fakes.on(endUsersRequests.personalKey, () => ({ key: KEY }));
  files.fakes.on(agentsRequests.ensureAwake, (request) => ({ ...awakeAt(1, request), endUserId }));
  files.fakes.on(runtimeRequests.changeFile, ({ command }) => (command.op === 'move' ? MOVED : PUT));
});

const write = (envelope = agentTarget()) =>
  files.requester.request(filesRequests.put, {
    ...envelope,
    staged: { stagedId: 'stg_1', endUserId, host: 'host1', epoch: 4 },
    target: { kind: 'path', path: 'CANARY.txt' },
  });
const move = (envelope = agentTarget()) =>
  files.requester.request(filesRequests.move, { ...envelope, from: 'CANARY-from', to: 'CANARY-to' });
const keyRequests = () => files.fakes.requestsOf(endUsersRequests.personalKey);

it('the paths of the agent of an end user are recorded sealed, and a repeated command gets its result', async () => {
  for (const [change, result] of [
    [write, PUT],
    [move, { from: MOVED.from, to: MOVED.path }],
  ] as const) {
    const envelope = agentTarget();
    expect(await change(envelope)).toEqual(result);
    const recorded = (await files.audit(envelope.commandId)).map(({ type, data }) => ({ type, data }));
    expect(recorded).toMatchObject([
      { type: 'FileChangeRequested.v2', data: { personal: { endUserId } } },
      { type: 'FileChanged.v2', data: { personal: { endUserId } } },
    ]);
    expect(JSON.stringify(recorded)).not.toContain('CANARY');
    await files.restart();
    expect(await change(envelope)).toEqual(result);
  }
  const made = files.fakes
    .requestsOf(runtimeRequests.changeFile)
    .filter(({ command }) => command.op !== 'discard');
  expect(made).toHaveLength(2);
});

it('a key is requested once, however many files change', async () => {
  for (let n = 0; n < 3; n++) await write();
  expect(keyRequests()).toEqual([{ endUserId }]);
});

it('no file of the agent of a deleted end user is changed', async () => {
  files.fakes.on(endUsersRequests.personalKey, () => ({ key: null }));
  for (const change of [write, move])
    await expect(change()).rejects.toMatchObject({ kind: 'not_found', code: 'agent_not_found' });
  expect(files.fakes.requestsOf(runtimeRequests.changeFile)).toEqual([]);
});

it('while end-users is down, files of its agents cannot be changed, and others can', async () => {
  files.fakes.on(endUsersRequests.personalKey, () => {
    throw new DomainError('unavailable', 'service_unavailable', 'Down.');
  });
  const refused: unknown = await move().catch((error: unknown) => error);
  expect(refused).toMatchObject({ kind: 'unavailable', code: 'agent_unavailable' });
  expect(effectOf(refused)).toBe('none');
  expect(files.fakes.requestsOf(runtimeRequests.changeFile)).toEqual([]);
  files.fakes.on(agentsRequests.ensureAwake, (request) => ({ ...awakeAt(1, request), endUserId: null }));
  expect(await move()).toEqual({ from: MOVED.from, to: MOVED.path });
});
