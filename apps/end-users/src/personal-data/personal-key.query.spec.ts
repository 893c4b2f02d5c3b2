import { MemoryEventStore } from '@berth/event-store';
import { newId } from '@berth/kernel';
import { PersonalKey } from '@berth/personal-data';
import { describe, expect, it } from 'vitest';
import { EndUserStreams } from '../end-user/end-user.streams.js';
import { PersonalData } from './personal-data.js';
import { PersonalKeyQuery } from './personal-key.query.js';

describe('the key of an end user', () => {
  it('is not given away once the end user is deleted, even if the vault has it again', async () => {
    const ids = { endUserId: newId('eus'), accountId: newId('acc'), now: Date.now() };
    const key = new PersonalKey(ids.endUserId, Buffer.alloc(32, 7));
    const streams = new EndUserStreams(new MemoryEventStore());
    const vault = { find: () => Promise.resolve(new PersonalData(key)) };
    const query = new PersonalKeyQuery(streams, vault as never, {} as never);
    const handle = (command: Parameters<EndUserStreams['handle']>[1]) =>
      streams.handle(ids.endUserId, command, {
        ...{ commandId: newId('cmd'), accountId: ids.accountId },
        actor: { kind: 'key', id: newId('key') },
      });

    await handle({ ...ids, type: 'Ensure', externalId: 'sealed' });
    expect(await query.run(ids.endUserId)).toEqual({ key: Buffer.from(key.bytes).toString('base64') });
    await handle({ ...ids, type: 'Delete' });
    expect(await query.run(ids.endUserId)).toEqual({ key: null });
  });
});
