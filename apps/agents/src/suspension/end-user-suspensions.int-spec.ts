import { endUsersEvents, type EndUserEventPayload } from '@berth/contracts/end-users';
import type { ReceivedEvent } from '@berth/messaging';
import { openDatabase, type Database } from '@berth/persistence';
import { startTestInfra, type TestInfra } from '@berth/testing';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { silent } from '../fixtures/fake-hosts.fixture.js';
import { migrations } from '../migrations/migrations.js';
import { RememberSuspendedEndUsers } from '../react/remember-suspended-end-users.js';
import { EndUserSuspensions, OwnerSuspensionQuery } from '@berth/boxes';

let infra: TestInfra;
let database: Database;
let suspensions: EndUserSuspensions;
let reaction: RememberSuspendedEndUsers;

beforeAll(async () => {
  infra = await startTestInfra({ parts: ['postgres'] });
  const { databaseUrl: url } = infra;
  database = await openDatabase({ url, schema: 'agents', migrations, applicationName: 'test', log: silent });
  suspensions = new EndUserSuspensions(database);
  reaction = new RememberSuspendedEndUsers(suspensions);
});
afterAll(async () => {
  await database.close();
  await infra.stop();
});
beforeEach(async () => {
  await database.query('DELETE FROM end_user_suspensions');
});

const received = (name: 'suspended' | 'resumed', position: bigint): ReceivedEvent<EndUserEventPayload> => ({
  ...{ id: `event-${String(position)}`, position, delivery: 1, recordedAt: new Date(0), subject: '' },
  ...{ context: 'end-users', name: endUsersEvents[name].name, version: 1 },
  ...{ accountId: 'acc_1', subjectId: 'eus_1' },
  payload: { accountId: 'acc_1', endUserId: 'eus_1', at: '' },
});
const receive = (name: 'suspended' | 'resumed', position: bigint): Promise<void> =>
  database.transaction((tx) => reaction.handle(received(name, position), tx));
const tell = (suspended: boolean, position: bigint): Promise<void> =>
  suspensions.remember({ id: 'eus_1', suspended, position });
const mayAct = (endUserId = 'eus_1'): Promise<boolean> =>
  new OwnerSuspensionQuery(database).requireActive({ accountId: 'acc_1', endUserId }).then(
    () => true,
    (error: unknown) => {
      expect(error).toMatchObject({ kind: 'forbidden', code: 'end_user_suspended' });
      return false;
    },
  );

describe('the suspension of an end user', () => {
  it('holds for its own agents only', async () => {
    expect(await mayAct()).toBe(true);
    await receive('suspended', 5n);
    expect([await mayAct(), await mayAct('eus_2')]).toEqual([false, true]);
  });

  it('is the latest in the log, however often and in whatever order its events and requests arrive', async () => {
    await tell(true, 5n);
    await receive('resumed', 9n);
    await receive('suspended', 5n);
    await tell(true, 5n);
    expect(await mayAct()).toBe(true);
    await tell(true, 12n);
    await receive('resumed', 9n);
    expect(await mayAct()).toBe(false);
  });

  it('has no effect if its resumption overtook it', async () => {
    await receive('resumed', 9n);
    await receive('suspended', 5n);
    expect(await mayAct()).toBe(true);
  });

  it('is forgotten with the end of a log that was cut off', async () => {
    await tell(true, 5n);
    await database.transaction((tx) => reaction.forgetAfter(4n, tx));
    expect(await mayAct()).toBe(true);
  });
});
