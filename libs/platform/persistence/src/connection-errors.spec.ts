import { isStorageFull } from '@berth/kernel';
import { expect, it } from 'vitest';
import { mapDatabaseError } from './connection-errors.js';

const failure = (code: string): Error => Object.assign(new Error('could not extend file'), { code });

it('a full disk of the server is an outage with that reason, also where TypeORM wraps it, and a lost connection is one without', () => {
  expect(isStorageFull(mapDatabaseError(failure('53100')))).toBe(true);
  const wrapped = Object.assign(new Error('query failed'), { driverError: failure('53100') });
  expect(isStorageFull(mapDatabaseError(wrapped))).toBe(true);
  expect(mapDatabaseError(failure('57P01'))).toMatchObject({ code: 'service_unavailable', context: {} });
  const conflict = failure('23505');
  expect(mapDatabaseError(conflict)).toBe(conflict);
});
