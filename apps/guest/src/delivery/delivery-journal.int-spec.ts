import { SmallDisk } from '@berth/embedded/testing';
import { appendFileSync, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { DeliveryJournal, type JournalBounds } from './delivery-journal.js';

const roomy: JournalBounds = {
  entries: 1_000,
  keepMs: 3_600_000,
  responseChars: 1_000_000,
  fileBytes: 1_000_000,
};

describe('the journal of deliveries', () => {
  let path: string;

  beforeEach(() => {
    path = join(mkdtempSync(join(tmpdir(), 'berth-journal-')), 'deliveries.jsonl');
  });

  afterEach(() => rmSync(join(path, '..'), { recursive: true, force: true }));

  const reopened = async (journal: DeliveryJournal, bounds = roomy): Promise<DeliveryJournal> => {
    await journal.close();
    return DeliveryJournal.open(path, bounds);
  };

  it('knows after a restart which messages were handed over, their outcomes, and which were released', async () => {
    let journal = await DeliveryJournal.open(path, roomy);
    for (const id of ['a', 'b', 'c', 'd']) await journal.handed(id);
    await journal.ended('b', { type: 'answered', response: 'hi' });
    await journal.released('c');
    await journal.ended('d', { type: 'failed', kind: 'upstream', code: 'agent_error', message: 'no' });
    appendFileSync(path, '{"id":"e","at":1,"st');
    journal = await reopened(journal);
    expect(journal.find('a')).toEqual({ at: expect.any(Number) as number, outcome: undefined });
    expect(journal.find('b')?.outcome).toEqual({ type: 'answered', response: 'hi' });
    expect(journal.find('c')).toBeUndefined();
    expect(journal.find('d')?.outcome).toMatchObject({ code: 'agent_error' });
    expect(journal.find('e')).toBeUndefined();
    await journal.handed('f');
    journal = await reopened(journal);
    expect(journal.find('f')).toBeDefined();
    await journal.close();
  });

  it('keeps its records while the disk is full, also over a restart, and those that it takes once there is room', async () => {
    const folder = join(path, '..', 'disk');
    const disk = SmallDisk.inMemory(folder, { mb: 1 });
    path = join(folder, 'deliveries.jsonl');
    try {
      let journal = await DeliveryJournal.open(path, roomy);
      await journal.handed('a');
      disk.fill();
      const refused: string[] = [];
      for (let n = 0; n < 4; n++) {
        const outcome = { type: 'answered', response: 'x'.repeat(3_000) } as const;
        await journal.ended(`r${n}`, outcome).catch(() => refused.push(`r${n}`));
      }
      expect(refused).not.toEqual([]);
      journal = await reopened(journal);
      expect(journal.find('a')).toBeDefined();
      for (const id of refused) expect(journal.find(id)).toBeUndefined();

      disk.free();
      await journal.handed('b');
      journal = await reopened(journal);
      for (const id of ['a', 'b']) expect(journal.find(id)).toBeDefined();
      await journal.close();
    } finally {
      disk.unmount();
      path = join(folder, '..', 'deliveries.jsonl');
    }
  });

  it('drops old responses before it forgets their messages', async () => {
    const bounds = { ...roomy, responseChars: 1_000 };
    let journal = await DeliveryJournal.open(path, bounds);
    for (let n = 0; n < 10; n++)
      await journal.ended(`d${n}`, { type: 'answered', response: 'x'.repeat(200) });
    expect(journal.find('d0')).toMatchObject({ outcome: undefined });
    expect(journal.find('d9')?.outcome).toBeDefined();
    journal = await reopened(journal, bounds);
    expect(journal.find('d0')).toMatchObject({ outcome: undefined });
    await journal.close();
  });

  it('limits its file size and its number of entries', async () => {
    const journal = await DeliveryJournal.open(path, { ...roomy, entries: 50, fileBytes: 20_000 });
    for (let n = 0; n < 500; n++) await journal.handed(`delivery-${n}`);
    expect(statSync(path).size).toBeLessThan(21_000);
    expect(journal.find('delivery-0')).toBeUndefined();
    expect(journal.find('delivery-499')).toBeDefined();
    expect(statSync(path).mode & 0o777).toBe(0o600);
    expect(readFileSync(path, 'utf8').endsWith('\n')).toBe(true);
    await journal.close();
  });
});
