import { afterEach, describe, expect, it } from 'vitest';
import { otherProcess, temporaryDataDir } from '../embedded-bench.fixture.js';
import { acquireDataLock, DataFolderInUseError } from '@berth/host-requirements';

const HOLD = `
embedded.acquireDataLock(process.argv[1]);
console.log('holding');
setInterval(() => undefined, 1000);
`;

const TRY = `
try {
  embedded.acquireDataLock(process.argv[1]);
  console.log('got it');
} catch (error) {
  console.log(error.name + ': ' + error.message);
}
`;

describe('the lock of a data folder', () => {
  const folder = temporaryDataDir();
  afterEach(() => folder.remove());

  it('refuses a second process immediately, naming the first process and a remedy', async () => {
    const lock = acquireDataLock(folder.dataDir);
    const second = otherProcess(TRY, [folder.dataDir]);
    const output = await second.prints('DataFolderInUseError');
    expect(output).toContain(`process ${process.pid}`);
    expect(output).toContain('BERTH_DATA');
    lock.release();
    await second.ended;
  });

  it('is still held by the first process after a second one was refused', async () => {
    const lock = acquireDataLock(folder.dataDir);
    for (const attempt of [1, 2]) {
      const other = otherProcess(TRY, [folder.dataDir]);
      expect(await other.prints('\n'), `attempt ${attempt}`).toContain('DataFolderInUseError');
      await other.ended;
    }
    lock.release();
  });

  it('ends with a process that was killed', async () => {
    const holder = otherProcess(HOLD, [folder.dataDir]);
    await holder.prints('holding');
    expect(() => acquireDataLock(folder.dataDir)).toThrow(DataFolderInUseError);
    await holder.kill();
    acquireDataLock(folder.dataDir).release();
  });

  it('is shared within one process and released by the last holder', async () => {
    const [one, two] = [acquireDataLock(folder.dataDir), acquireDataLock(folder.dataDir)];
    one.release();
    one.release();
    const other = otherProcess(TRY, [folder.dataDir]);
    expect(await other.prints('\n')).toContain('DataFolderInUseError');
    two.release();
    const later = otherProcess(TRY, [folder.dataDir]);
    expect(await later.prints('\n')).toContain('got it');
    await Promise.all([other.ended, later.ended]);
  });
});
