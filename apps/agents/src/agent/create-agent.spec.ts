import type { CreateAgent } from '@berth/contracts/agents';
import { deriveId, DomainError } from '@berth/kernel';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import type { MemoryAgents } from '../fixtures/memory-agents.fixture.js';
import type { Admission } from './admission.js';
import {
  aRequest as request,
  MemoryCreations,
  type FakeResources,
} from '../fixtures/memory-creations.fixture.js';
import { FakeEndUsers, ownersIn } from '../fixtures/personal-data.fixture.js';

let creations: MemoryCreations;
let memory: MemoryAgents;
let fakes: FakeResources;

beforeEach(async () => {
  creations = await MemoryCreations.open();
  ({ memory, fakes } = creations);
});

/** Each call returns the `AgentCreation` of another process on the same log. */
const creation: MemoryCreations['creation'] = (owners) => creations.creation(owners);

const idOf = ({ commandId }: CreateAgent): string => deriveId('agt', commandId);
const created = async (one: CreateAgent): Promise<readonly string[]> =>
  (await memory.after(idOf(one), 0)).filter((type) => type === 'AgentCreated.v3');

const noHost = (): Promise<string> =>
  Promise.reject(new DomainError('unavailable', 'service_unavailable', 'No host.'));

describe('creating an agent', () => {
  it('claims nothing and appends nothing if it is not admitted', async () => {
    creations.admission = { admit: (act) => Promise.reject(new DomainError('forbidden', act, 'Suspended.')) };
    const one = request();
    await expect(creation().create(one)).rejects.toMatchObject({ kind: 'forbidden', code: 'create' });
    expect(await memory.after(idOf(one), 0)).toEqual([]);
    creations.admission = { admit: () => Promise.resolve(null) };
    expect(await creation().create(request())).toMatchObject({ name: 'ada' });
  });

  it.each([
    [0, 2_000],
    [3_000, 1_500],
    [4_400, 500],
  ])(
    'after %i ms waits %i ms for the list, so that its caller has the agent within 5 s',
    async (ms, within) => {
      vi.useFakeTimers({ toFake: ['Date'] });
      try {
        const late: Admission['admit'] = async () => {
          vi.setSystemTime(Date.now() + ms);
          return null;
        };
        creations.admission = { admit: late };
        memory.waitFor = vi.fn(() => Promise.resolve(false));
        const one = request();
        expect(await creation().create(one)).toMatchObject({ id: idOf(one) });
        const [asked] = vi.mocked(memory.waitFor).mock.calls;
        expect(asked?.[1]).toBeGreaterThan(within - 100);
        expect(asked?.[1]).toBeLessThanOrEqual(within);
      } finally {
        vi.useRealTimers();
      }
    },
  );

  it('uses the template and the defaults for members that the request omits', async () => {
    const { resources } = creations.templates.get('echo');
    const view = await creation().create(request({ resources: { memMb: 777 } }));
    expect(view).toMatchObject({ state: 'deploying', resources: { ...resources, memMb: 777 } });
    expect(view).toMatchObject({ idleTtlSeconds: 900 });
  });

  it('stores its variables in the vault under its attempt, and not in the log', async () => {
    const one = request({ env: [{ key: 'TOKEN', value: 'canary', isSecret: true }] });
    await creation().create(one);
    expect(fakes.variables.get(`${idOf(one)}/0`)).toEqual(one.env);
    const events = await memory.store.read(`agent-${idOf(one)}`);
    expect(JSON.stringify(events.map(({ data }) => data))).not.toContain('canary');
  });

  it('returns the same agent when the command is sent again, also concurrently', async () => {
    const one = request();
    const views = await Promise.all([creation().create(one), creation().create(one)]);
    expect(new Set([...views, await creation().create(one)].map(({ id }) => id))).toEqual(
      new Set([idOf(one)]),
    );
    expect(await created(one)).toHaveLength(1);
  });

  it.each([
    ['agent_name_taken', {}],
    ['external_id_taken', { name: 'grace', externalId: 'ext-1' }],
  ] as const)(
    'is refused with %s while another agent holds the name or id, and releases what it claimed',
    async (code, members) => {
      const first = request({ externalId: 'ext-1' });
      await creation().create(first);
      const second = request(members);
      await expect(creation().create(second)).rejects.toMatchObject({
        kind: 'conflict',
        code,
        context: { agentId: idOf(first) },
      });
      expect(await created(second)).toEqual([]);
      expect(await creation().create(request({ name: 'grace' }))).toMatchObject({ name: 'grace' });
    },
  );

  it('is refused for an unknown template before it claims the name', async () => {
    await expect(creation().create(request({ templateId: 'nope' }))).rejects.toMatchObject({
      kind: 'invalid',
      code: 'unknown_template',
    });
    expect(await creation().create(request())).toMatchObject({ name: 'ada' });
  });

  it('allows the same name in another account', async () => {
    await creation().create(request());
    expect(await creation().create(request({ accountId: 'acc_2' }))).toMatchObject({ name: 'ada' });
  });
});

describe('a creation that fails', () => {
  it('without a host is abandoned in the log and releases its name', async () => {
    fakes.placeOn = noHost;
    const one = request();
    await expect(creation().create(one)).rejects.toMatchObject({ kind: 'unavailable' });
    expect(await memory.after(idOf(one), 0)).toEqual(['AgentCreationAbandoned']);
    fakes.placeOn = () => Promise.resolve('hst_1');
    expect(await creation().create(request())).toMatchObject({ name: 'ada' });
  });

  it('leaves none of its variables behind, which may be secret', async () => {
    const put = fakes.putCreated.bind(fakes);
    fakes.putCreated = async (...variables) => {
      await put(...variables);
      throw new DomainError('unavailable', 'service_unavailable', 'The answer of the vault was lost.');
    };
    const one = request({ env: [{ key: 'A', value: '1', isSecret: true }] });
    await expect(creation().create(one)).rejects.toMatchObject({ kind: 'unavailable' });
    expect([...fakes.variables]).toEqual([]);
  });

  it('succeeds as the next attempt when the command is sent again', async () => {
    fakes.placeOn = noHost;
    const one = request({ env: [{ key: 'A', value: '1', isSecret: false }] });
    await expect(creation().create(one)).rejects.toMatchObject({ kind: 'unavailable' });
    fakes.placeOn = () => Promise.resolve('hst_2');
    expect(await creation().create(one)).toMatchObject({ id: idOf(one) });
    expect([...fakes.variables.keys()]).toEqual([`${idOf(one)}/1`]);
    expect(await created(one)).toHaveLength(1);
  });

  it('after its agent was created returns that agent', async () => {
    const one = request();
    const put = fakes.putCreated.bind(fakes);
    // A concurrent try of the same command creates the agent before this one fails.
    fakes.putCreated = async (agentId, attempt, variables) => {
      fakes.putCreated = put;
      await creation().create(one);
      await put(agentId, attempt, variables);
      throw new Error('The vault is unavailable.');
    };
    expect(await creation().create(one)).toMatchObject({ id: idOf(one) });
    expect(await created(one)).toHaveLength(1);
  });
});

describe('creating an agent for an end user', () => {
  const owned = (members: Partial<CreateAgent> = {}) =>
    request({ externalId: 'CANARY', externalUserId: 'CANARY', labels: { a: 'CANARY' }, ...members });

  it('creates the end user, and stores personal data in the log only sealed', async () => {
    const endUsers = new FakeEndUsers();
    const one = owned({ name: 'CANARY', instructions: 'CANARY' });
    const shown = { name: 'CANARY', externalId: 'CANARY', externalUserId: 'CANARY', labels: { a: 'CANARY' } };
    expect(await creation(ownersIn(endUsers)).create(one)).toMatchObject(shown);
    expect(await creation(ownersIn(endUsers)).create(one)).toMatchObject(shown);
    expect([...endUsers.created]).toEqual(['eus_CANARY']);
    const data = (await memory.store.read(`agent-${idOf(one)}`)).map((event) => event.data);
    expect(data[0]).toMatchObject({ personal: { endUserId: 'eus_CANARY' } });
    expect(JSON.stringify(data).replaceAll('eus_CANARY', '')).not.toContain('CANARY');
  });

  it('creates no end user if it is refused', async () => {
    const endUsers = new FakeEndUsers();
    await creation().create(request());
    await expect(creation(ownersIn(endUsers)).create(owned())).rejects.toMatchObject({
      code: 'agent_name_taken',
    });
    expect([...endUsers.created]).toEqual([]);
  });

  it('fails while end-users is down, but any other agent can be created', async () => {
    const endUsers = new FakeEndUsers();
    endUsers.down = true;
    const one = owned();
    await expect(creation(ownersIn(endUsers)).create(one)).rejects.toMatchObject({
      code: 'service_unavailable',
    });
    expect(await created(one)).toEqual([]);
    expect(await creation(ownersIn(endUsers)).create(request())).toMatchObject({ state: 'deploying' });
  });

  it('leaves no agent and no name taken if the end user is deleted meanwhile', async () => {
    const endUsers = new FakeEndUsers();
    fakes.placeOn = () => {
      endUsers.keys.set('eus_CANARY', null);
      return Promise.resolve('hst_1');
    };
    const one = owned();
    await creation(ownersIn(endUsers)).create(one);
    expect(await memory.after(idOf(one), 0)).toContain('AgentDeletionRequested');
    expect([...endUsers.created]).toEqual([]);
    fakes.placeOn = () => Promise.resolve('hst_1');
    expect(await creation().create(request({ externalId: 'CANARY' }))).toMatchObject({ state: 'deploying' });
  });
});
