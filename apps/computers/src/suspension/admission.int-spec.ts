import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { computersRequests } from '@berth/contracts/computers';
import { runtimeRequests } from '@berth/contracts/runtime';
import { eventually } from '@berth/testing';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { endUserIdOf } from '../fixtures/fake-surroundings.fixture.js';
import { about, ACCOUNT, command, ServedComputers } from '../fixtures/served-computers.fixture.js';

const SOON = { timeoutMs: 10_000, intervalMs: 50 };
const folder = mkdtempSync(join(tmpdir(), 'berth-plans-'));
let served: ServedComputers;
let position = 0;

beforeAll(async () => {
  const file = join(folder, 'berth.yaml');
  writeFileSync(
    file,
    'plans:\n  - { id: default, hosting: metered }\n  - { id: desks, hosting: metered, addons: [computers] }\n',
  );
  served = await ServedComputers.start({ BERTH_CONFIG: file });
});
afterAll(async () => {
  await served.stop();
  rmSync(folder, { recursive: true });
});
beforeEach(() => {
  served.fakes.reset();
  served.fakes.planIs('desks');
});

const setStanding = (externalId: string, suspended: boolean) =>
  served.requester.request(computersRequests.setEndUserStanding, {
    ...{ endUserId: endUserIdOf(externalId), suspended, position: String(++position) },
  });

/** Everything that uses a computer. */
const uses = (id: string): Readonly<Record<string, () => Promise<unknown>>> => {
  const send = <Req, Res>(
    definition: Parameters<typeof served.requester.request<Req, Res>>[0],
    members: object,
  ) => served.requester.request(definition, { ...about(id), ...members } as Req);
  const transfer = { refusedEpoch: null };
  return {
    wake: () => send(computersRequests.wake, {}),
    openActions: () => send(computersRequests.openActions, { ...transfer, actions: 1 }),
    openScreenshot: () =>
      send(computersRequests.openScreenshot, { ...transfer, format: 'png', quality: 80, scale: 1 }),
    exec: () => send(computersRequests.exec, { command: 'ls', cwd: null, env: {}, timeoutSeconds: null }),
    openList: () => send(computersRequests.openList, { ...transfer, path: null }),
    openDownload: () => send(computersRequests.openDownload, { ...transfer, path: 'a' }),
    openStage: () => send(computersRequests.openStage, { ...transfer, path: 'a' }),
    openViewer: () =>
      send(computersRequests.openViewer, { mode: 'view', takeover: false, ttlSeconds: 60, secretHash: id }),
    ensureAwake: () => send(computersRequests.ensureAwake, transfer),
  };
};
const codesOf = async (id: string): Promise<ReadonlySet<unknown>> => {
  const failures = Object.values(uses(id)).map((use) =>
    use().then(
      () => 'done',
      (error: { code?: string }) => error.code,
    ),
  );
  return new Set(await Promise.all(failures));
};
/** What is always allowed. */
const readAndEnd = async (id: string): Promise<void> => {
  const of = { accountId: ACCOUNT, computerId: id };
  expect(await served.get(id)).toMatchObject({ id });
  expect(await served.requester.request(computersRequests.listSessions, of)).toEqual({ items: [] });
  await served.requester.request(computersRequests.sleep, about(id));
  await served.requester.request(computersRequests.closeSessions, { ...about(id), sessionId: null });
  await served.requester.request(computersRequests.delete, about(id));
};

describe('the computers of a suspended end user', () => {
  it('sleep cold as soon as it is suspended, and refuse whatever uses them', async () => {
    const { id } = await served.running({ externalUserId: 'ada' });
    await setStanding('ada', true);
    await served.until(id, 'sleeping');
    expect(served.fakes.boxes.get(id)?.state).toBe('stopped');
    expect(await codesOf(id)).toEqual(new Set(['end_user_suspended']));
    await expect(served.create({ externalUserId: 'ada' })).rejects.toMatchObject({
      code: 'end_user_suspended',
    });
    await setStanding('ada', false);
    expect(await uses(id)['openActions']?.()).toMatchObject({ host: 'host1' });
  });

  it('end their viewer sessions, can be read, put to sleep and deleted', async () => {
    const { id } = await served.running({ externalUserId: 'bob' });
    await uses(id)['openViewer']?.();
    await setStanding('bob', true);
    await served.until(id, 'sleeping');
    await readAndEnd(id);
    await setStanding('bob', false);
  });

  it('sleep cold also if they slept warm, or were starting', async () => {
    const { id } = await served.running({ externalUserId: 'carol' });
    await served.requester.request(computersRequests.sleep, about(id));
    expect(served.fakes.boxes.get(id)?.state).toBe('frozen');
    await setStanding('carol', true);
    await eventually(() => expect(served.fakes.boxes.get(id)?.state).toBe('stopped'), SOON);
    await setStanding('carol', false);

    const { promise: ready, resolve: getReady } = Promise.withResolvers<{ guest: never }>();
    served.fakes.on(runtimeRequests.start, () => ready);
    const { computer } = await served.create({ externalUserId: 'dan' });
    await setStanding('dan', true);
    getReady({ guest: {} as never });
    await served.until(computer.id, 'sleeping');
    await setStanding('dan', false);
  });
});

describe('the computers of an end user that is deleted', () => {
  it('are deleted with it, also if the command of it is sent again', async () => {
    const { id } = await served.running({ externalUserId: 'erin' });
    const forget = { ...command(), endUserId: endUserIdOf('erin') };
    await served.requester.request(computersRequests.forgetEndUser, forget);
    await served.requester.request(computersRequests.forgetEndUser, forget);
    await expect(served.get(id)).rejects.toMatchObject({ code: 'computer_not_found' });
    await eventually(() => expect(served.fakes.boxes.has(id)).toBe(false), SOON);
    await expect(served.create({ externalUserId: 'erin' })).rejects.toMatchObject({ kind: 'unavailable' });
  });
});

describe('the computers of an account without the add-on', () => {
  it('can be read, put to sleep and deleted, and nothing else', async () => {
    const { id } = await served.running();
    served.fakes.planIs('default');
    expect(await codesOf(id)).toEqual(new Set(['addon_required']));
    await expect(served.create()).rejects.toMatchObject({ kind: 'payment_required', code: 'addon_required' });
    await readAndEnd(id);
  });
});

describe('the computers of a suspended account', () => {
  it('sleep cold within 10 s', async () => {
    const { id } = await served.running();
    await served.database.query(
      `INSERT INTO account_suspensions (account_id, suspended, position) VALUES ($1, true, 1)`,
      [ACCOUNT],
    );
    await served.until(id, 'sleeping');
    expect(served.fakes.boxes.get(id)?.state).toBe('stopped');
    expect(await codesOf(id)).toEqual(new Set(['account_suspended']));
    await served.database.query('DELETE FROM account_suspensions');
  });
});
