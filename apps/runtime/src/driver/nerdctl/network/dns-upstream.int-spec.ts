import { describe, expect, it } from 'vitest';
import { askByUdp } from './dns-upstream.js';

/** The kernel refuses to connect to it, as it does to any address without a route. */
const UNREACHABLE = { address: '255.255.255.255', port: 53 };

describe('a query to a resolver that cannot be reached', () => {
  it('fails without ending the process', async () => {
    await expect(askByUdp(Buffer.alloc(12), UNREACHABLE, AbortSignal.timeout(10_000))).rejects.toMatchObject({
      syscall: 'connect',
    });
  });
});
