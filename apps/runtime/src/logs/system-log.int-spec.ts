import {
  chownSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { LOG_FILE_BYTES, logFileName } from '@berth/guest-protocol';
import { newId } from '@berth/kernel';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { agentFolders } from '../agent/agent-folders.js';
import { SystemLog } from './system-log.js';

describe('the lines of the host in the log of an agent', () => {
  const agentId = newId('agt');
  let dataDir: string;
  let folder: string;
  let log: SystemLog;

  beforeEach(() => {
    dataDir = mkdtempSync(join(tmpdir(), 'berth-system-log-'));
    folder = agentFolders(dataDir, agentId).logs;
    mkdirSync(folder, { recursive: true });
    log = new SystemLog({ dataDir });
  });

  afterEach(() => rmSync(dataDir, { recursive: true, force: true }));

  const content = (number: number): string => readFileSync(join(folder, logFileName(number)), 'utf8');

  it('take at most three files of 10 MB, however much is built, and the newest lines stay', async () => {
    const message = 'm'.repeat(16 * 1_024);
    // About 8 MB a call, as one build writes them.
    for (let n = 0; n < 6; n++)
      await log.addBuild(
        agentId,
        Array.from({ length: 500 }, () => ({ level: 'info', message })),
      );
    await log.add(agentId, 'info', 'last');
    const names = readdirSync(folder).toSorted();
    expect(names).toEqual([3, 4, 5].map(logFileName));
    for (const name of names) expect(statSync(join(folder, name)).size).toBeLessThanOrEqual(LOG_FILE_BYTES);
    expect(content(5)).toContain('last');
  });

  it('begin a file when the guest has filled the newest', async () => {
    writeFileSync(join(folder, logFileName(7)), Buffer.alloc(LOG_FILE_BYTES, '\n'));
    await log.add(agentId, 'info', 'one');
    expect(readdirSync(folder).toSorted()).toEqual([7, 8].map(logFileName));
    expect(content(8)).toContain('one');
  });

  it.runIf(process.getuid?.() === 0)('are in files that the guest can write to', async () => {
    chownSync(folder, 4_242, 4_243);
    await log.add(agentId, 'info', 'one');
    const { uid, gid, mode, nlink } = statSync(join(folder, logFileName(1)));
    expect({ uid, gid, mode: mode & 0o777, nlink }).toEqual({
      uid: 4_242,
      gid: 4_243,
      mode: 0o600,
      nlink: 1,
    });
  });
});
