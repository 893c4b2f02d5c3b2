import { MemoryEventStore, SnapshotTable, type ExpectedRevision, type NewEvent } from '@berth/event-store';
import { createLogger } from '@berth/telemetry';
import { beforeEach, describe, expect, it } from 'vitest';
import { AccountLedgerStreams } from '../account-ledger/account-ledger.streams.js';
import { EndUserLedgerStreams } from '../end-user-ledger/end-user-ledger.streams.js';
import { endUserLedgerId } from '../end-user-ledger/end-user-ledger.events.js';
import { callFacts, demandOf } from '../fixtures/calls.fixture.js';
import { CallLedgers } from './call-ledgers.js';

const tables = {
  schema: 'llm',
  query: () => Promise.resolve([]),
  transaction: <Result>(work: (tx: { query: () => Promise<never[]> }) => Promise<Result>) => work(tables),
};
const AT = '2026-11-23T08:00:01.000Z';

/** A log in which the streams of accounts cannot be written. */
class HalfStore extends MemoryEventStore {
  isDown = true;
  /** Whether what it refuses is written nevertheless. */
  writes = false;

  override async append(stream: string, events: readonly NewEvent[], expected: ExpectedRevision) {
    const isRefused = this.isDown && stream.startsWith('llmAccount-');
    if (isRefused && !this.writes) throw new Error('the log is down');
    const appended = await super.append(stream, events, expected);
    if (isRefused) throw new Error('the log is down');
    return appended;
  }
}

let store: HalfStore;
let endUsers: EndUserLedgerStreams;
let ledgers: CallLedgers;

beforeEach(() => {
  store = new HalfStore();
  const snapshots = new SnapshotTable(tables, createLogger({ service: 'test', level: 'silent' }));
  endUsers = new EndUserLedgerStreams(store, snapshots);
  ledgers = new CallLedgers(new AccountLedgerStreams(store, snapshots), endUsers, {
    waitFor: () => Promise.resolve(true),
  });
});

const call = {
  ...callFacts('llm_1', { endUserId: 'eus_1' }),
  ...{ accountId: 'acc_1', cap: 1_000_000n, countsCredits: false },
};
const spend = async () => (await endUsers.load(endUserLedgerId('eus_1', call.startedAt))).state;

describe('a call that cannot be reserved in the ledger of its account', () => {
  it.each([
    ['was not written', false],
    ['was written nevertheless', true],
  ])(
    'leaves nothing reserved of the cap once it is abandoned, if the reservation %s',
    async (_what, writes) => {
      store.writes = writes;
      await expect(ledgers.reserve(call, demandOf(10, 10))).rejects.toThrow('the log is down');
      expect((await spend()).reserved).not.toBe('0');
      store.isDown = false;
      await ledgers.abandon(call, AT);
      expect(await spend()).toMatchObject({ settled: '0', reserved: '0', open: {} });
      const ends = (await store.read('llmAccount-acc_1')).map(({ type }) => type);
      expect(ends).toEqual(writes ? ['LlmCallReserved', 'LlmCallFailed'] : []);
    },
  );
});
