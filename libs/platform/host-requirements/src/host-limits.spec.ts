import { describe, expect, it } from 'vitest';
import { hardLimitOfFiles } from './open-files.js';
import { firstSubordinateId } from './subordinate-ids.js';

describe('the limits of the host', () => {
  it('include the first subordinate id of a user, whose range begins at 65,536 or above and has 65,536 ids', () => {
    expect(firstSubordinateId('other:100000:65536\nberth:200000:65536\n', 'berth')).toBe(200_000);
    expect(firstSubordinateId('berth:200000:1000\n', 'berth')).toBeUndefined();
    expect(firstSubordinateId('berth:1000:65536\n', 'berth')).toBeUndefined();
    expect(firstSubordinateId('', 'berth')).toBeUndefined();
  });

  it('include the hard limit of containerd for open files, if it has one', () => {
    expect(
      hardLimitOfFiles('Max open files            1024                 524288               files'),
    ).toBe(524_288);
    expect(
      hardLimitOfFiles('Max open files            1024                 unlimited            files'),
    ).toBeUndefined();
  });
});
