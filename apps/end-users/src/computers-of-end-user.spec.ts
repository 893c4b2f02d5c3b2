import { computersRequests } from '@berth/contracts/computers';
import { DomainError } from '@berth/kernel';
import { createLogger } from '@berth/telemetry';
import { expect, it } from 'vitest';
import { ComputersOfEndUser } from './computers-of-end-user.js';
import type { LiveEndUser } from './end-user/end-user.js';

type Request = ConstructorParameters<typeof ComputersOfEndUser>[0];

const computersOf = (request: (subject: string, payload: unknown) => unknown): ComputersOfEndUser =>
  new ComputersOfEndUser(
    {
      request: async ({ subject }: { readonly subject: string }, payload: unknown) =>
        request(subject, payload),
    } as unknown as Request,
    createLogger({ service: 'test', level: 'silent' }),
  );

const unreachable = (): never => {
  throw new DomainError('unavailable', 'service_unavailable', 'No response.');
};
const suspended = { endUserId: 'eus_1', suspendedAt: '2026-11-28T08:00:00.000Z' } as LiveEndUser;
const envelope = { commandId: 'cmd_1', accountId: 'acc_1', actor: { kind: 'key', id: 'key_1' } } as const;

it('the computers of an end user are told its standing, with the position of the event in the log', async () => {
  const told: unknown[] = [];
  const computers = computersOf((subject, payload) => told.push([subject, payload]));
  await computers.setStanding(suspended, 5n);
  await computers.setStanding({ ...suspended, suspendedAt: null }, 7n);
  const { subject } = computersRequests.setEndUserStanding;
  expect(told).toEqual([
    [subject, { endUserId: 'eus_1', suspended: true, position: '5' }],
    [subject, { endUserId: 'eus_1', suspended: false, position: '7' }],
  ]);
});

it('a suspension succeeds while `computers` cannot be reached, and a deletion does not', async () => {
  const computers = computersOf(unreachable);
  await expect(computers.setStanding(suspended, 5n)).resolves.toBeUndefined();
  await expect(computers.forget(envelope, 'eus_1')).rejects.toMatchObject({ kind: 'unavailable' });
});
