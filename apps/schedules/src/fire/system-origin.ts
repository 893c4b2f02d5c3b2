import type { CommandEnvelope } from '@berth/kernel';

/** The origin of a command that the service gives to itself; the same id takes effect once. */
export const systemOrigin = (accountId: string, commandId: string): CommandEnvelope => ({
  commandId,
  accountId,
  actor: { kind: 'system', id: 'schedules' },
});
