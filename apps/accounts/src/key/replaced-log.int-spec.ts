import { startTestInfra, type TestInfra } from '@berth/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ServedAccounts } from '../served-accounts.fixture.js';

let accounts: ServedAccounts;
let otherLog: TestInfra;

beforeAll(async () => {
  accounts = await ServedAccounts.start(1);
  otherLog = await startTestInfra({ parts: ['eventStore'] });
});
afterAll(async () => {
  await accounts.stop();
  await otherLog.stop();
});

describe('a key of an event log', () => {
  it('is rejected once another log has replaced its own, and accepted again with its own', async () => {
    const { key, id } = await accounts.mint();
    const bootstrap = await accounts.bootstrapKey();
    const before = await accounts.authenticate(bootstrap);
    await accounts.stopServices();
    await accounts.startAnother({ eventStoreUrl: otherLog.eventStoreUrl });
    await expect(accounts.authenticate(key)).rejects.toMatchObject({ code: 'unauthenticated' });
    // The key in the operator's file becomes the first key of the new log, with the account of that log.
    expect((await accounts.authenticate(bootstrap)).accountId).not.toBe(before.accountId);
    await accounts.stopServices();
    await accounts.startAnother();
    expect(await accounts.authenticate(key)).toMatchObject({ keyId: id });
  });
});
