import { aboutIdentity, aboutVariable } from '@berth/contracts/agents';
import { endUsersRequests } from '@berth/contracts/end-users';
import { aboutRequestedPaths } from '@berth/contracts/files';
import { newId } from '@berth/kernel';
import { toPersonal, type PersonalKey } from '@berth/personal-data';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { actingKey, ServedAudit } from './fixtures/served-audit.fixture.js';

let audit: ServedAudit;
let accountId: string;

beforeAll(async () => {
  audit = await ServedAudit.start();
});
afterAll(() => audit.stop());
beforeEach(() => {
  accountId = newId('acc');
});

/** A creation, a variable and two changes of files of an agent of the end user. */
const acts = async (key: PersonalKey): Promise<void> => {
  const agentId = newId('agt');
  const identity = { name: 'CANARY-name', externalUserId: 'CANARY-id', instructions: 'CANARY-text' };
  const tell = (stream: string, type: string, data: object) =>
    audit.append(accountId, actingKey(), stream, [{ type, data: { agentId, ...data } }]);
  await tell(`agent-${agentId}`, 'AgentCreated.v3', {
    templateId: 'echo',
    personal: toPersonal(key, aboutIdentity(agentId), identity),
  });
  await tell(`agentEnv-${agentId}`, 'EnvVarSet.v2', {
    isSecret: true,
    variable: toPersonal(key, aboutVariable(agentId), 'CANARY_KEY'),
  });
  const change = (op: string, paths: object) => {
    const changeId = newId('fch');
    const personal = toPersonal(key, aboutRequestedPaths(changeId), paths);
    return tell(`fileChange-${changeId}`, 'FileChangeRequested.v2', { changeId, op, personal });
  };
  await change('write', { path: '/CANARY-a' });
  await change('move', { path: '/CANARY-a', to: '/CANARY-b' });
};

const SHOWN = [
  { path: '/CANARY-a', to: '/CANARY-b' },
  { path: '/CANARY-a' },
  { isSecret: true, key: 'CANARY_KEY' },
  { templateId: 'echo', name: 'CANARY-name' },
];
const HIDDEN = [
  { path: null, to: null },
  { path: null },
  { isSecret: true, key: null },
  { templateId: 'echo', name: null },
];

const details = async () => (await audit.list(accountId)).items.map((act) => act.details);

it('names and paths are shown as long as their end user exists, and are null from then on, also after a rebuild', async () => {
  const [kept, deleted] = [audit.person(), audit.person()];
  await acts(kept);
  await acts(deleted);
  await audit.untilListed(accountId, 8);
  expect(await details()).toEqual([...SHOWN, ...SHOWN]);
  expect(JSON.stringify(await audit.rows())).not.toContain('CANARY');
  audit.forget(deleted);
  expect(await details()).toEqual([...HIDDEN, ...SHOWN]);
  await audit.rebuild();
  expect(await details()).toEqual([...HIDDEN, ...SHOWN]);
});

it('a page costs one request for all its keys, and none if it names nothing of an end user', async () => {
  const people = [audit.person(), audit.person(), audit.person()];
  for (const key of people) await acts(key);
  await audit.untilListed(accountId, 12);
  const before = audit.endUsers.subjects.length;
  await audit.list(accountId);
  await audit.list(newId('acc'));
  expect(audit.endUsers.subjects.slice(before)).toEqual([endUsersRequests.personalKeys.subject]);
  const asked = audit.endUsers.requestsOf(endUsersRequests.personalKeys).at(-1);
  expect(asked).toEqual({ accountId, endUserIds: people.map(({ endUserId }) => endUserId).reverse() });
});

it('while end-users is down, a page that names an end user is refused as unavailable', async () => {
  await acts(audit.person());
  await audit.untilListed(accountId, 4);
  await audit.endUsers.stop();
  await expect(audit.list(accountId)).rejects.toMatchObject({ code: 'service_unavailable' });
  expect((await audit.list(newId('acc'))).items).toEqual([]);
  await audit.endUsers.open();
  expect(await details()).toEqual(SHOWN);
});
