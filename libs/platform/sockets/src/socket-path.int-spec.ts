import { once } from 'node:events';
import { lstatSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { openSocketPath } from './socket-path.js';

// The kernel accepts at most 107 characters.
it.each([10, 150])(
  'a socket in a folder whose name has %i characters accepts connections',
  async (length) => {
    const root = mkdtempSync(join(tmpdir(), 'berth-path-'));
    const folder = join(root, 'x'.repeat(length));
    mkdirSync(folder);
    const socketFile = join(folder, 'a.sock');
    const [near, far] = [await openSocketPath(socketFile), await openSocketPath(socketFile)];
    const server = createServer((socket) => socket.end('here'));
    await once(server.listen(near.path), 'listening');
    expect(lstatSync(socketFile).isSocket()).toBe(true);
    const [data] = (await once(connect(far.path), 'data')) as [Buffer];
    expect(data.toString()).toBe('here');
    server.close();
    await once(server, 'close');
    await Promise.all([near.release(), far.release()]);
    rmSync(root, { recursive: true });
  },
);
