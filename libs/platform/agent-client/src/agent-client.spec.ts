import { agentsRequests, type EnsureAwake } from '@berth/contracts/agents';
import type { AwakeAgent } from '@berth/contracts/hosting';
import { computersRequests, type ComputerRef } from '@berth/contracts/computers';
import { DomainError, effectOf, newId, type RequestDefinition } from '@berth/kernel';
import { beforeEach, describe, expect, it } from 'vitest';
import { AgentClient, type AgentUse } from './index.js';

const use: AgentUse = {
  envelope: { commandId: 'cmd_1', accountId: 'acc_1', actor: { kind: 'key', id: 'key_1' } },
  agentId: newId('agt'),
  kind: 'file',
};

const stale = (): DomainError => new DomainError('conflict', 'stale_epoch', 'm', {}, { effect: 'none' });
const unreached = (): DomainError =>
  new DomainError('unavailable', 'service_unavailable', 'm', {}, { effect: 'none' });
const lost = (): DomainError => new DomainError('unavailable', 'service_unavailable', 'm');

/** Stands in for the service `agents`: every wake starts the agent in the next epoch. */
class Agents {
  readonly wakes: EnsureAwake[] = [];
  refusal: DomainError | undefined;
  #epoch = 0;

  request<Req, Res>(definition: RequestDefinition<Req, Res>, payload: Req): Promise<Res> {
    expect(definition.subject).toBe(agentsRequests.ensureAwake.subject);
    this.wakes.push(payload as EnsureAwake);
    if (this.refusal !== undefined && this.wakes.length > 1) return Promise.reject(this.refusal);
    this.#epoch++;
    const awake: AwakeAgent = {
      agentId: use.agentId,
      host: 'host1',
      epoch: this.#epoch,
      guest: { version: '1', capabilities: [] },
    };
    return Promise.resolve(awake as Res);
  }
}

let agents: Agents;
let client: AgentClient;
beforeEach(() => {
  agents = new Agents();
  client = new AgentClient(agents);
});

/** Fails with each of `errors` in turn, then returns the epoch it was called with. */
const failing = (...errors: readonly DomainError[]) => {
  const left = [...errors];
  return ({ epoch }: AwakeAgent): Promise<number> => {
    const error = left.shift();
    return error === undefined ? Promise.resolve(epoch) : Promise.reject(error);
  };
};

const failure = (work: Promise<unknown>): Promise<unknown> =>
  work.then(
    () => undefined,
    (error: unknown) => error,
  );

describe('a call to an awake agent', () => {
  it('carries the epoch of the wake', async () => {
    expect(await client.withAwakeAgent(use, failing())).toBe(1);
    expect(agents.wakes).toMatchObject([{ commandId: 'cmd_1/wake:first', kind: 'file', refusedEpoch: null }]);
  });

  it('wakes the agent again and names the stale epoch when its host rejects it', async () => {
    expect(await client.withAwakeAgent(use, failing(stale(), stale()))).toBe(3);
    expect(agents.wakes.map(({ commandId, refusedEpoch }) => [commandId, refusedEpoch])).toEqual([
      ['cmd_1/wake:first', null],
      ['cmd_1/wake:1', 1],
      ['cmd_1/wake:2', 2],
    ]);
  });

  it('is repeated at the same epoch while no handler began it', async () => {
    expect(await client.withAwakeAgent(use, failing(unreached(), unreached()))).toBe(1);
    expect(agents.wakes).toHaveLength(1);
  });

  it('is not repeated when it may have been carried out', async () => {
    let calls = 0;
    const call = (): Promise<never> => {
      calls++;
      return Promise.reject(lost());
    };
    expect(effectOf(await failure(client.withAwakeAgent(use, call)))).toBe('unknown');
    expect(calls).toBe(1);
  });

  it('gives up on an agent that keeps falling asleep, with the effect none', async () => {
    const error = await failure(client.withAwakeAgent(use, () => Promise.reject(stale())));
    expect(error).toMatchObject({ code: 'agent_unavailable', effect: 'none' });
    expect(agents.wakes).toHaveLength(6);
  });

  it('has the effect none when the agent could not be woken again', async () => {
    agents.refusal = lost();
    const error = await failure(client.withAwakeAgent(use, failing(stale())));
    expect(error).toMatchObject({ code: 'agent_unavailable', effect: 'none' });
  });

  it('rethrows the error with which another wake is refused', async () => {
    agents.refusal = new DomainError('conflict', 'agent_stopped', 'm');
    expect(await failure(client.withAwakeAgent(use, failing(stale())))).toBe(agents.refusal);
  });

  it('keeps an unknown effect once one of its repetitions may have had an effect', async () => {
    const repeat = async <Response>(call: () => Promise<Response>): Promise<Response> => {
      await call().catch(() => undefined);
      return call();
    };
    const error = await failure(
      client.withAwakeAgent(
        use,
        failing(
          lost(),
          stale(),
          stale(),
          stale(),
          stale(),
          stale(),
          stale(),
          stale(),
          stale(),
          stale(),
          stale(),
          stale(),
        ),
        { repeat },
      ),
    );
    expect(error).toMatchObject({ code: 'agent_unavailable', effect: 'unknown' });
  });
});

describe('a call to an awake computer', () => {
  const computer: AgentUse = { ...use, agentId: newId('cmp'), kind: 'computer' };

  /** Stands in for the service `computers`. */
  const asked: ComputerRef[] = [];
  const computers = new AgentClient({
    request: <Req, Res>(definition: RequestDefinition<Req, Res>, payload: Req): Promise<Res> => {
      expect(definition.subject).toBe(computersRequests.ensureAwake.subject);
      asked.push(payload as ComputerRef);
      const guest = { version: '1', capabilities: [] };
      const awake: AwakeAgent = { agentId: computer.agentId, host: 'host1', epoch: asked.length, guest };
      return Promise.resolve(awake as Res);
    },
  });
  beforeEach(() => void asked.splice(0));

  it('wakes it with the service that it belongs to, and names the stale epoch', async () => {
    expect(await computers.withAwakeAgent(computer, failing(stale()))).toBe(2);
    const { accountId, actor } = use.envelope;
    const common = { accountId, actor, computerId: computer.agentId };
    expect(asked).toEqual([
      { ...common, commandId: 'cmd_1/wake:first', refusedEpoch: null },
      { ...common, commandId: 'cmd_1/wake:1', refusedEpoch: 1 },
    ]);
  });

  it.each([
    ['keeps falling asleep', () => Promise.reject(stale())],
    ['cannot be reached', () => Promise.reject(unreached())],
  ])('fails with an error of computers when it %s', async (message, call) => {
    expect(await failure(computers.withAwakeAgent(computer, call))).toMatchObject({
      code: 'computer_unavailable',
      effect: 'none',
      message: expect.stringContaining(`The computer ${message}`) as string,
    });
  });
});
