import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isoTime, newId } from '@berth/kernel';
import { eventually } from '@berth/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ServedBilling, ToldAgent } from '../fixtures/served-billing.fixture.js';

const HOUR_MS = 3_600_000;

let folder: string;
let file: string;
let billing: ServedBilling;

const write = (vcpuHourCents: number): void =>
  writeFileSync(
    file,
    `plans:\n  - { id: default, hosting: metered, rates: { vcpuHourCents: ${String(vcpuHourCents)}, memGbHourCents: 0, diskGbMonthCents: 0 } }\n`,
  );
const hangUp = (): void => void process.emit('SIGHUP', 'SIGHUP');

interface Read {
  readonly at: number;
  readonly vcpuHour: string;
}

/** The prices in the log, in order. */
const pricesRead = async (): Promise<readonly Read[]> =>
  (await billing.store.read('pricing-plans')).map(({ data }) => {
    const [plan] = data['plans'] as unknown as readonly { hosting: { vcpuHour: string } }[];
    return { at: Date.parse(String(data['at'])), vcpuHour: plan?.hosting.vcpuHour ?? '' };
  });

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'berth-prices-'));
  file = join(folder, 'berth.yaml');
  write(3_600);
  billing = await ServedBilling.start({ BERTH_CONFIG: file });
});
afterAll(async () => {
  await billing.stop();
  rmSync(folder, { recursive: true, force: true });
});

describe('a price that is changed in the operator’s file', () => {
  it('counts from the moment on at which SIGHUP had it read, and what was used before keeps its price', async () => {
    const accountId = newId('acc');
    const agent = new ToldAgent();
    await eventually(async () => expect(await pricesRead()).toHaveLength(1));
    const [first] = await pricesRead();
    const began = (first?.at ?? 0) + 1;
    const at = (millis: number): string => isoTime(millis);
    await billing.tell(
      accountId,
      { stream: `account-${accountId}`, type: 'AccountOpened.v2', data: openedAt(accountId, at(began)) },
      agent.created(at(began), { vcpus: 1 }),
      agent.starting(at(began)),
      agent.started(at(began)),
    );
    write(7_200);
    hangUp();
    await eventually(async () => expect(await pricesRead()).toHaveLength(2));
    const [, second] = await pricesRead();
    const changed = second?.at ?? 0;
    const ended = changed + HOUR_MS;
    await billing.tell(accountId, agent.stopped(at(ended)), agent.deleted(at(ended)));
    // A cent a second before the change and two after it.
    const cents = (changed - began) / 1_000 + (2 * HOUR_MS) / 1_000;
    const range = { from: at(began), to: at(ended) };
    const { totals } = await billing.usage(accountId, range);
    expect(changed).toBeGreaterThanOrEqual(began);
    expect(totals.activeSeconds).toBe((ended - began) / 1_000);
    expect(totals.hostingCents).toBeCloseTo(cents, 6);
    await billing.rebuild();
    expect((await billing.usage(accountId, range)).totals).toEqual(totals);
    expect(await billing.verify(range)).toMatchObject({ differing: 0 });
  });

  it('is not recorded again by a SIGHUP that changes nothing, nor at all when the file has a fault', async () => {
    const before = await pricesRead();
    const rereads = billing.rereads;
    hangUp();
    await eventually(() => expect(billing.rereads).toBe(rereads + 1));
    writeFileSync(file, 'plans: 7\n');
    hangUp();
    await eventually(() => expect(billing.rereads).toBe(rereads + 2));
    write(10_800);
    hangUp();
    await eventually(async () => expect(await pricesRead()).toHaveLength(before.length + 1));
    expect((await pricesRead()).at(-1)?.vcpuHour).toBe('10800000000');
  });
});

const openedAt = (accountId: string, at: string) => ({ accountId, name: 'x', plan: 'default', openedAt: at });
