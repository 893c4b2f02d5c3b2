import { statfsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { createLogger } from '@berth/telemetry';
import { expect, it } from 'vitest';
import { DiskPromises } from './disk-promises.js';

const GB = 1024 ** 3;
const log = createLogger({ service: 'test', level: 'silent' });

const grantable = (promisedBytes: number | null, diskOvercommit: number): Promise<number | undefined> =>
  new DiskPromises(
    { dataDir: tmpdir(), diskOvercommit },
    {
      promisedDisk: () =>
        Promise.resolve(promisedBytes === null ? null : { promisedBytes, storedBytes: 2 * GB }),
    },
    log,
  ).grantableBytes();

it('what new volumes may hold is the disk that is free or theirs, times the factor of the operator, less what is promised', async () => {
  const { bavail, bsize } = statfsSync(tmpdir());
  const disk = bavail * bsize + 2 * GB;
  // Others use the disk meanwhile.
  const near = (bytes: number) => Math.abs(bytes) < GB;
  expect(near(((await grantable(3 * GB, 1)) ?? 0) - (disk - 3 * GB))).toBe(true);
  expect(near(((await grantable(3 * GB, 2)) ?? 0) - (2 * disk - 3 * GB))).toBe(true);
  expect(await grantable(1e15, 4)).toBe(0);
  expect(await grantable(null, 4)).toBeUndefined();
});
