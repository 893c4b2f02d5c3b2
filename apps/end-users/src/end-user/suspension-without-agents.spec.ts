import { DomainError } from '@berth/kernel';
import { expect, it } from 'vitest';
import { EndUserCommandHandler } from './end-user.command-handler.js';

const command = {
  ...{ commandId: 'cmd_1', accountId: 'acc_1', externalId: 'ada' },
  actor: { kind: 'key', id: 'key_1' },
} as const;
const unavailable = () =>
  Promise.reject(new DomainError('unavailable', 'service_unavailable', 'No response.'));

/** Suspends or resumes an end user while `agents` handles requests like this; returns the steps that were done. */
const change = async (
  verb: 'suspend' | 'resume',
  agents: {
    readonly count: () => Promise<ReadonlyMap<string, number>>;
    readonly setStanding: () => Promise<void>;
  },
  computers = { setStanding: () => Promise.resolve() },
): Promise<{ readonly steps: readonly string[]; readonly result: unknown }> => {
  const steps: string[] = [];
  const did =
    <T>(step: string, result: T) =>
    () => {
      steps.push(step);
      return Promise.resolve(result);
    };
  const written = { state: { kind: 'live' }, revision: 1n, position: 5n };
  const handler = new EndUserCommandHandler(
    { change: did('write', written) } as never,
    {} as never,
    { ofState: (_: unknown, agentCount: number) => Promise.resolve({ agentCount }) } as never,
    { record: did('record', undefined) } as never,
    agents as never,
    computers as never,
  );
  const result = await handler[verb](command).catch((error: unknown) => error);
  return { steps, result };
};

it.each(['suspend', 'resume'] as const)(
  '%s changes nothing if it is refused because agents cannot be reached',
  async (verb) => {
    const { steps, result } = await change(verb, { count: unavailable, setStanding: unavailable });
    expect(result).toMatchObject({ kind: 'unavailable', code: 'service_unavailable' });
    expect(steps).toEqual([]);
  },
);

it.each(['suspend', 'resume'] as const)(
  '%s asks agents for nothing that can fail once it is written',
  async (verb) => {
    let counts = 0;
    const count = () => (counts++ === 0 ? Promise.resolve(new Map([['ada', 3]])) : unavailable());
    const { steps, result } = await change(verb, { count, setStanding: () => Promise.resolve() });
    expect([steps, result]).toEqual([['write', 'record'], { agentCount: 3 }]);
  },
);

it.each(['suspend', 'resume'] as const)(
  '%s is told to agents and computers at once, and returns when both have followed',
  async (verb) => {
    const told = Promise.withResolvers<void>();
    const agents = { count: () => Promise.resolve(new Map()), setStanding: () => told.promise };
    const computers = {
      setStanding: () => {
        told.resolve();
        return Promise.resolve();
      },
    };
    const { result } = await change(verb, agents, computers);
    expect(result).toEqual({ agentCount: 0 });
  },
);
