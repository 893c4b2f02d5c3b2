import { once } from 'node:events';
import { createServer } from 'node:net';
import { describe, expect, it } from 'vitest';
import { assertPortFree, PortUnavailableError } from './free-port.js';

describe('ports', () => {
  it('name the port and the remedy when one is in use', async () => {
    const server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    const address = server.address();
    const port = typeof address === 'object' && address ? address.port : 0;
    await expect(assertPortFree(port)).rejects.toThrow(PortUnavailableError);
    await expect(assertPortFree(port)).rejects.toThrow(
      `Port ${port} on 127.0.0.1 is in use by another program.`,
    );
    server.close();
    await once(server, 'close');
    await expect(assertPortFree(port)).resolves.toBeUndefined();
  });
});
