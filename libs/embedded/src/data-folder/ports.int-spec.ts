import { once } from 'node:events';
import { mkdirSync } from 'node:fs';
import { createServer } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { temporaryDataDir } from '../embedded-bench.fixture.js';
import { assertPortFree, PortBook, PortUnavailableError } from './ports.js';

describe('ports', () => {
  const folder = temporaryDataDir();
  afterEach(() => folder.remove());

  it('say who has to move when one is in use', async () => {
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

  it('are the same again for whoever opens the book anew, and differ between parts', async () => {
    mkdirSync(folder.dataDir, { recursive: true });
    const book = new PortBook(folder.dataDir);
    const [nats, tables] = [await book.portFor('nats'), await book.portFor('postgres')];
    expect(nats).not.toBe(tables);
    expect(await new PortBook(folder.dataDir).portFor('nats')).toBe(nats);
  });
});
