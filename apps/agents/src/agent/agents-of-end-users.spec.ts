import type { AgentOfEndUser, CreateAgent } from '@berth/contracts/agents';
import { deriveId } from '@berth/kernel';
import { eventually } from '@berth/testing';
import { beforeEach, describe, expect, it } from 'vitest';
import { aRequest, FakeResources, MemoryCreations } from '../fixtures/memory-creations.fixture.js';
import { FakeEndUsers } from '../fixtures/personal-data.fixture.js';

/** Short, so that the creation of a process that ended is soon overdue. */
const TIMING = { unfinishedAfterMs: 150, undoneWithinMs: 40 };

let creations: MemoryCreations;
let endUsers: FakeEndUsers;

beforeEach(async () => {
  creations = await MemoryCreations.open(TIMING);
  endUsers = new FakeEndUsers();
});

const forAda = (): CreateAgent & { readonly externalUserId: string } => ({
  ...aRequest({ name: 'ada' }),
  externalUserId: 'ada',
});
const idOf = ({ commandId }: CreateAgent): string => deriveId('agt', commandId);
const getOrCreate = (request: CreateAgent, fakes?: FakeResources): Promise<AgentOfEndUser> =>
  creations.ofEndUsers(endUsers, fakes).getOrCreate(request);
const typesOf = (request: CreateAgent): Promise<readonly string[]> =>
  creations.memory.after(idOf(request), 0);

/** A process that stops after it has reserved the names of the agent; `goOn` lets it continue. */
const stopAmid = async (
  request: CreateAgent,
): Promise<{ goOn(): void; readonly outcome: Promise<unknown> }> => {
  const fakes = new FakeResources();
  const { promise: reached, resolve: reach } = Promise.withResolvers<void>();
  const { promise: continued, resolve: goOn } = Promise.withResolvers<string>();
  fakes.placeOn = () => {
    reach();
    return continued;
  };
  const outcome = getOrCreate(request, fakes).catch((error: unknown) => error);
  await reached;
  return { goOn: () => goOn('hst_1'), outcome };
};

describe('the agent of an end user', () => {
  it('is created once by a hundred calls of as many processes', async () => {
    const results = await Promise.all(Array.from({ length: 100 }, () => getOrCreate(forAda())));
    expect(new Set(results.map(({ agent }) => agent.id)).size).toBe(1);
    expect(results.filter(({ created }) => created)).toHaveLength(1);
  });

  it('is created by the next call after a process ended between its reservation and its creation', async () => {
    const [interrupted, next] = [forAda(), forAda()];
    await stopAmid(interrupted);
    expect(await getOrCreate(next)).toMatchObject({ created: true, agent: { id: idOf(next) } });
    expect(await typesOf(interrupted)).toEqual(['AgentCreationAbandoned']);
    expect(await getOrCreate(forAda())).toMatchObject({ created: false, agent: { id: idOf(next) } });
  });

  it('stays the only one when that process continues after all', async () => {
    const [interrupted, next] = [forAda(), forAda()];
    const process = await stopAmid(interrupted);
    const { agent } = await getOrCreate(next);
    process.goOn();
    expect(await process.outcome).toMatchObject({ created: false, agent: { id: agent.id } });
    expect(await typesOf(interrupted)).not.toContain('AgentCreated.v3');
  });

  it('is the agent that an interrupted call began to create, if the same command is repeated', async () => {
    const request = forAda();
    const process = await stopAmid(request);
    expect(await getOrCreate(request)).toMatchObject({ created: true, agent: { id: idOf(request) } });
    process.goOn();
    expect(await process.outcome).toMatchObject({ agent: { id: idOf(request) } });
    await eventually(async () =>
      expect((await typesOf(request)).filter((type) => type === 'AgentCreated.v3')).toHaveLength(1),
    );
  });
});
