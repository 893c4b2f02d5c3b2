import {
  connectEventStore,
  EventStreams,
  ProjectionRunner,
  type EventStore,
  type RecordedEvent,
} from '@berth/event-store';
import { isDomainError, newId, systemClock } from '@berth/kernel';
import { openDatabase, SecretBox, type Database } from '@berth/persistence';
import { EndUserKeys, KeptKeys, PersonalKey } from '@berth/personal-data';
import { Supervisor } from '@berth/supervision';
import { Dice, startTestInfra, type TestInfra } from '@berth/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ComputerCommand } from '../computer/computer.commands.js';
import { computerDecider } from '../computer/computer.decider.js';
import { computerCodec } from '../computer/computer.events.js';
import { silent } from '../fixtures/fake-surroundings.fixture.js';
import { migrations } from '../migrations/migrations.js';
import { toPersonalIdentity } from '../personal-data/computer-identity.js';
import {
  viewerSessionCodec,
  viewerSessionDecider,
  type ViewerSessionCommand,
} from '../viewer/viewer-session.js';
import { ComputerListQuery } from './computer-list.query.js';
import { computerListProjection } from './computer-list.projection.js';
import type { ComputersFromLog } from './computers-from-log.js';

const COMPUTERS = 40;
const STEPS = 12;
const box = new SecretBox({ current: 'k1', keys: new Map([['k1', Buffer.alloc(32, 7)]]) });
const projection = computerListProjection(box);
const supervisor = new Supervisor('test', silent);

let infra: TestInfra;
let database: Database;
let store: EventStore;
let runner: ProjectionRunner;
let key: PersonalKey;

beforeAll(async () => {
  infra = await startTestInfra({ parts: ['eventStore', 'postgres'] });
  const names = { schema: 'computers', applicationName: 'computer-list-test' };
  database = await openDatabase({ url: infra.databaseUrl, ...names, migrations, log: silent });
  store = connectEventStore({ url: infra.eventStoreUrl, log: silent });
  runner = new ProjectionRunner({ store, database, projection, log: silent });
  supervisor.start('projection', (signal) => runner.run(signal));
  await runner.untilCaughtUp();
  const nobody = { request: () => Promise.reject(new Error('Nobody is asked.')) };
  const keys = new KeptKeys(database, box, new EndUserKeys(nobody, systemClock));
  key = new PersonalKey(newId('eus'), Buffer.alloc(32, 3));
  await keys.keep(key);
});
afterAll(async () => {
  await supervisor.stop();
  await Promise.all([store.close(), database.close()]);
  await infra.stop();
});

const origin = () =>
  ({ commandId: newId('cmd'), accountId: 'acc_1', actor: { kind: 'system', id: 'test' } }) as const;

const commandsFor = (epoch: number, at: string): readonly ComputerCommand[] => [
  { type: 'ConfirmStarted', epoch, at },
  { type: 'ConfirmStarted', epoch, at },
  { type: 'FallAsleep', epoch, depth: 'warm', reason: 'idle', at },
  { type: 'FallAsleep', epoch, depth: 'cold', reason: 'cooled', at },
  { type: 'Sleep', warm: true, at },
  { type: 'Sleep', warm: false, at },
  { type: 'Wake', refusedEpoch: null, retry: true, at },
  { type: 'ConfirmStopped', epoch, at },
  { type: 'FailTransition', epoch, code: 'desktop_failed', message: 'It broke.', at },
  { type: 'LoseHost', seenAt: at, at },
  { type: 'SettlePresence', epoch, frozen: false, at },
  { type: 'RequestDeletion', at },
  { type: 'ConfirmDeleted', at },
];

const unlessRefused = async <Result>(work: Promise<Result>): Promise<Result | null> => {
  try {
    return await work;
  } catch (error) {
    if (isDomainError(error)) return null;
    throw error;
  }
};

/** Sends random commands to one new computer and two sessions of it; returns the position of the last event. */
const runHistory = async (dice: Dice): Promise<bigint> => {
  const computers = new EventStreams({ store, decider: computerDecider, codec: computerCodec });
  const sessions = new EventStreams({ store, decider: viewerSessionDecider, codec: viewerSessionCodec });
  const computerId = newId('cmp');
  let millis = Date.UTC(2026, 10, 28);
  const time = (): string => new Date((millis += 1_000)).toISOString();
  const identity = { name: `desk of ${computerId}`, externalUserId: 'CANARY' };
  const create: ComputerCommand = {
    ...{ type: 'Create', computerId, host: 'host1', at: time() },
    profile: {
      accountId: 'acc_1',
      personal: toPersonalIdentity(dice.percent(50) ? key : null, computerId, identity),
      display: { width: 1_280, height: 800 },
      resources: { memMb: 2_048, vcpus: 2, diskGb: 10 },
      idleTtlSeconds: dice.percent(20) ? 0 : 900,
    },
  };
  let last = (await computers.handle(computerId, create, origin())).position ?? 0n;
  const sessionIds = [newId('vws'), newId('vws')];
  const sessionCommands = (sessionId: string, at: string): readonly ViewerSessionCommand[] => [
    {
      type: 'Open',
      session: {
        ...{ sessionId, computerId, accountId: 'acc_1', keyId: 'key_1', mode: 'view', takeover: false },
        ...{
          secretHash: sessionId,
          ttlSeconds: 900,
          expiresAt: new Date(millis + 900_000).toISOString(),
          at,
        },
      },
    },
    { type: 'Connect', at },
    { type: 'End', reason: 'closed', at },
  ];
  for (let step = 0; step < STEPS; step++) {
    const { state } = await computers.load(computerId);
    const epoch = state.status === 'live' ? state.epoch : 0;
    const one = await unlessRefused(
      computers.handle(computerId, dice.one(commandsFor(epoch, time())), origin()),
    );
    last = one?.position ?? last;
    const sessionId = dice.one(sessionIds);
    const other = await unlessRefused(
      sessions.handle(sessionId, dice.one(sessionCommands(sessionId, time())), origin()),
    );
    last = other?.position ?? last;
  }
  return last;
};

const rowsOf = async (suffix = ''): Promise<readonly unknown[]> =>
  Promise.all(
    ['computer_list', 'viewer_sessions'].map((name) =>
      database.query(`SELECT * FROM ${name}${suffix} ORDER BY id`),
    ),
  );

const recorded = async (): Promise<readonly RecordedEvent[]> => {
  const ending = new AbortController();
  const events: RecordedEvent[] = [];
  const { categories } = projection;
  for await (const item of store.subscribe({ from: 'start', categories, signal: ending.signal })) {
    if (item.kind === 'event') events.push(item.event);
    if (item.kind === 'caughtUp') break;
  }
  ending.abort();
  return events;
};

describe('the list of computers and their sessions', () => {
  it('has the same rows after a rebuild, and when every event arrives twice, as before', async () => {
    const dice = new Dice(20_261_128);
    let last = 0n;
    for (let computer = 0; computer < COMPUTERS; computer++) last = await runHistory(dice);
    expect(await runner.waitFor(last, 10_000)).toBe(true);
    const before = await rowsOf();
    expect((before[0] as unknown[]).length).toBeGreaterThan(10);
    expect((before[1] as unknown[]).length).toBeGreaterThan(10);
    await runner.rebuild(() => undefined, new AbortController().signal);
    expect(await rowsOf()).toEqual(before);

    const twice = (await recorded()).flatMap((event) => [event, event]);
    await database.transaction(async (tx) => {
      await projection.createTables(tx, 'twice');
      for (let from = 0; from < twice.length; from += 100)
        await projection.apply(tx, 'twice', twice.slice(from, from + 100));
    });
    expect(await rowsOf('_twice')).toEqual(before);
  });

  it('has what is personal in no event of an end user, and not after the deletion', async () => {
    const sealed = (await recorded()).filter(
      ({ data }) => (data['personal'] as { endUserId?: unknown } | undefined)?.endUserId === key.endUserId,
    );
    expect(sealed.length).toBeGreaterThan(5);
    expect(JSON.stringify(sealed.map(({ data }) => data))).not.toContain('CANARY');
    const rows = await database.query<{ state: string; external_user_id: string | null }>(
      'SELECT state, external_user_id FROM computer_list WHERE end_user_id IS NOT NULL',
    );
    for (const { state, external_user_id } of rows)
      expect(external_user_id).toBe(state === 'deleting' ? null : 'CANARY');
  });

  it('returns what matches its filters, each on one page, the newest first', async () => {
    const query = new ComputerListQuery(database, {} as ComputersFromLog);
    const filters = { accountId: 'acc_1', externalUserId: null, status: 'sleeping' } as const;
    const seen: string[] = [];
    let cursor: string | null = null;
    do {
      const page: Awaited<ReturnType<typeof query.list>> = await query.list({ ...filters, cursor, limit: 1 });
      seen.push(...page.items.map(({ id }) => id));
      cursor = page.nextCursor;
    } while (cursor !== null);
    const expected = await database.query<{ id: string }>(
      `SELECT id FROM computer_list WHERE state = 'sleeping' ORDER BY id DESC`,
    );
    expect(expected.length).toBeGreaterThan(1);
    expect(seen).toEqual(expected.map(({ id }) => id));
    const ofOthers = { ...filters, status: null, cursor: null, limit: 50 };
    expect((await query.list({ ...ofOthers, accountId: 'acc_2' })).items).toEqual([]);
    expect((await query.list({ ...ofOthers, externalUserId: 'nobody' })).items).toEqual([]);
    expect((await query.list({ ...ofOthers, endUserId: key.endUserId })).items.length).toBeGreaterThan(1);
    await expect(query.list({ ...ofOthers, cursor: 'not-a-cursor' })).rejects.toMatchObject({
      code: 'invalid_request',
    });
  });
});
