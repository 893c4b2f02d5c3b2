import { newId } from '@berth/kernel';
import { openDatabase, type Database } from '@berth/persistence';
import { createLogger } from '@berth/telemetry';
import { startTestInfra, type TestInfra } from '@berth/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { migrations } from '../migrations.js';
import { RequestRate } from './request-rate.js';

const LIMIT = 30;
let infra: TestInfra;
let databases: readonly Database[];

beforeAll(async () => {
  infra = await startTestInfra({ parts: ['postgres'] });
  const log = createLogger({ service: 'test', level: 'silent' });
  const options = { url: infra.databaseUrl, schema: 'end_users', migrations, applicationName: 'test', log };
  databases = [await openDatabase(options), await openDatabase(options)];
});
afterAll(async () => {
  for (const database of databases) await database.close();
  await infra.stop();
});

const rates = (): readonly RequestRate[] =>
  databases.map((database) => new RequestRate(database, { requestsPerMinute: LIMIT }));

const passSeconds = (endUserId: string, seconds: number): Promise<unknown> | undefined =>
  databases[0]?.query(
    "UPDATE request_rate SET began_at = began_at - $2 * interval '1 second' WHERE end_user_id = $1",
    [endUserId, seconds],
  );

describe('the requests of an end user', () => {
  it('are limited exactly, however many processes count them at the same time', async () => {
    const endUserId = newId('eus');
    const taken = await Promise.all(
      Array.from({ length: 4 * LIMIT }, (_, n) => rates()[n % 2]?.take(endUserId)),
    );
    expect(taken.filter((wait) => wait === null)).toHaveLength(LIMIT);
    const waits = taken.filter((wait) => typeof wait === 'number');
    expect(waits).toHaveLength(3 * LIMIT);
    expect(waits.every((wait) => Number.isInteger(wait) && wait > 50 && wait <= 60)).toBe(true);
    expect(await rates()[0]?.take(newId('eus'))).toBeNull();
  });

  it('are accepted again 60 s after the first of them, and not before', async () => {
    const endUserId = newId('eus');
    const [rate] = rates();
    for (let n = 0; n < LIMIT; n++) expect(await rate?.take(endUserId)).toBeNull();
    await passSeconds(endUserId, 50);
    expect(await rate?.take(endUserId)).toBeLessThanOrEqual(10);
    await passSeconds(endUserId, 10);
    for (let n = 0; n < LIMIT; n++) expect(await rate?.take(endUserId)).toBeNull();
    expect(await rate?.take(endUserId)).toBeGreaterThan(50);
  });
});
