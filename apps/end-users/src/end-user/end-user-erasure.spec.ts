import { DomainError } from '@berth/kernel';
import { expect, it } from 'vitest';
import { EndUserErasure } from './end-user-erasure.js';

const envelope = { commandId: 'cmd_1', accountId: 'acc_1', actor: { kind: 'key', id: 'key_1' } } as const;
const deleted = {
  kind: 'deleted',
  endUserId: 'eus_1',
  accountId: 'acc_1',
  sealed: {},
  erased: false,
} as const;

/** Erases an end user whose key is `key` while the services in `down` cannot be reached; returns the steps that were done. */
const erase = async (
  down: readonly string[],
  key: object | null = { open: () => ({ externalId: 'ada' }) },
): Promise<{ readonly steps: readonly string[]; readonly error: unknown }> => {
  const steps: string[] = [];
  const does = (step: string) => (): Promise<void> => {
    if (down.some((service) => step.startsWith(service)))
      return Promise.reject(new DomainError('unavailable', 'service_unavailable', 'No response.'));
    steps.push(step);
    return Promise.resolve();
  };
  const erasure = new EndUserErasure(
    { deleteAll: does('agents deleted'), forget: does('agents forgot the key') } as never,
    { forget: does('computers deleted') } as never,
    { release: does('external id free') } as never,
    { find: () => Promise.resolve(key), destroy: does('key destroyed') } as never,
    { forgetAllOf: does('tokens dead') } as never,
    { recordErasure: does('recorded') } as never,
  );
  const error = await erasure
    .run({ ...deleted, sealed: {} as never }, envelope)
    .catch((reason: unknown) => reason);
  return { steps, error };
};

it('an end user is erased once its agents and computers are gone, and its external id is free only then', async () => {
  const { steps, error } = await erase([]);
  expect(error).toBeUndefined();
  expect(steps).toEqual([
    ...['tokens dead', 'agents deleted', 'computers deleted', 'external id free'],
    ...['agents forgot the key', 'key destroyed', 'recorded'],
  ]);
});

it.each([
  ['computers', 'agents deleted'],
  ['agents', 'computers deleted'],
])(
  'an end user is not erased while `%s` cannot be reached, but the other service deletes what it has',
  async (...names) => {
    const [down, done] = names;
    const { steps, error } = await erase([down]);
    expect(error).toMatchObject({ kind: 'unavailable' });
    expect(steps).toEqual(['tokens dead', done]);
  },
);

it('an erasure that is repeated once the key is destroyed deletes computers too', async () => {
  const { steps } = await erase([], null);
  expect(steps).toEqual([
    'tokens dead',
    'computers deleted',
    'agents forgot the key',
    'key destroyed',
    'recorded',
  ]);
});
