import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { ConfigError } from '@berth/config';
import { newId } from '@berth/kernel';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { agentFolders } from './agent/agent-folders.js';
import { AgentRecords, blankRecord } from './agent/agent-record.js';
import { UidAllocation } from './driver/process/uid-allocation.js';
import { hostId } from './host-id.js';
import { HostLog } from './report/host-log.js';

const AGENT = newId('agt');

const FILES = [
  {
    what: 'the event log of the host',
    path: 'event-log.json',
    read: async (folder: string) => (await HostLog.open(folder)).id,
    absent: null,
    others: ['{"id":1}', 'null'],
  },
  {
    what: 'the user ids of the agents',
    path: 'uids.json',
    read: async (folder: string) =>
      (await UidAllocation.open(join(folder, 'uids.json'), 'abcdef012345', 61_000)).agentOf(61_000),
    absent: undefined,
    others: ['[]', '{"agt_1":"61000"}', '7'],
  },
  {
    what: 'the record of an agent',
    path: `agents/${AGENT}/state.json`,
    read: (folder: string) => new AgentRecords({ dataDir: folder }).readAll(),
    absent: [],
    others: ['null', '{"epoch":"3"}'],
  },
  {
    what: 'the id of the host',
    path: 'host-id.json',
    read: hostId,
    absent: expect.any(String),
    others: ['3'],
  },
];

let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'berth-stored-'));
});

afterEach(() => rmSync(folder, { recursive: true, force: true }));

const reading = (read: (folder: string) => Promise<unknown>): Promise<unknown> =>
  read(folder).catch((error: unknown) => error);

describe.each(FILES)('$what', ({ path, read, absent, others }) => {
  const place = (): string => {
    const file = join(folder, path);
    mkdirSync(dirname(file), { recursive: true });
    return file;
  };

  it('is absent only if its file does not exist', async () => {
    expect(await reading(read)).toEqual(absent);
  });

  it.each(['', '{"torn', ...others])('is refused, naming the file, if the file contains %j', async (text) => {
    const file = place();
    writeFileSync(file, text);
    const refused = await reading(read);
    expect(refused).toBeInstanceOf(ConfigError);
    expect(refused).toMatchObject({ message: expect.stringContaining(`${file} must contain `) });
    expect(readFileSync(file, 'utf8')).toBe(text);
  });

  it('is refused, naming the file and the reason, if the file cannot be read', async () => {
    const file = place();
    mkdirSync(file);
    const refused = await reading(read);
    expect(refused).toBeInstanceOf(ConfigError);
    expect(refused).toMatchObject({ message: expect.stringMatching(/cannot be read \(EISDIR\)/) });
    expect(refused).toMatchObject({ message: expect.stringContaining(file) });
  });
});

describe('the records of a host', () => {
  it('are those of its agents that have one', async () => {
    const records = new AgentRecords({ dataDir: folder });
    const record = { ...blankRecord(AGENT), epoch: 3, endedEpoch: 2 };
    await records.save(record);
    mkdirSync(agentFolders(folder, newId('agt')).volume, { recursive: true });
    expect(await records.readAll()).toEqual([record]);
  });

  it('are refused if their folder cannot be read', async () => {
    await new AgentRecords({ dataDir: folder }).save(blankRecord(AGENT));
    rmSync(join(folder, 'agents'), { recursive: true });
    writeFileSync(join(folder, 'agents'), '');
    expect(await reading((data) => new AgentRecords({ dataDir: data }).readAll())).toBeInstanceOf(
      ConfigError,
    );
  });
});
