import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { findPeerUid } from './peer-user.js';
import { startEventStoreServer, type EventStoreServer } from './server.js';

/** Connects, sends the HTTP/2 preface, and reports whether the server responded or closed the connection. */
const CALL = `
const socket = require('node:net').connect(Number(process.argv[1]), '127.0.0.1', () => {
  socket.write('PRI * HTTP/2.0\\r\\n\\r\\nSM\\r\\n\\r\\n');
  socket.write(Buffer.from([0, 0, 0, 4, 0, 0, 0, 0, 0]));
});
socket.once('data', () => { console.log('responded'); process.exit(0); });
socket.once('close', () => { console.log('hung up'); process.exit(0); });
socket.once('error', () => { console.log('hung up'); process.exit(0); });
`;

const callAs = (uid: number, port: number): Promise<string> =>
  new Promise((resolve, reject) => {
    const child = spawn(process.execPath, ['-e', CALL, String(port)], {
      uid,
      gid: uid,
      cwd: '/',
      env: {},
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let output = '';
    child.stdout.on('data', (chunk: Buffer) => (output += chunk.toString('utf8')));
    child.stderr.on('data', (chunk: Buffer) => (output += chunk.toString('utf8')));
    child.once('error', reject);
    child.once('close', () => resolve(output.trim()));
  });

describe('the log on a machine with other users', () => {
  const folder = mkdtempSync(join(tmpdir(), 'berth-peer-'));
  let server: EventStoreServer;

  beforeAll(async () => {
    server = await startEventStoreServer({ file: join(folder, 'log.db'), port: 0 });
  });

  afterAll(async () => {
    await server.close();
    rmSync(folder, { recursive: true, force: true });
  });

  it('accepts connections of the user it runs as', async () => {
    expect(await callAs(process.getuid?.() ?? 0, server.port)).toBe('responded');
  });

  it('finds the user of a connection, and none for a connection that does not exist', () => {
    const table = [
      '  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode',
      '   0: 0100007F:0841 0100007F:D431 01 00000000:00000000 00:00000000 00000000     0        0 1 1 0 20 4 30 10 -1',
      '   1: 0100007F:D431 0100007F:0841 01 00000000:00000000 00:00000000 00000000 61001        0 2 1 0 20 4 30 10 -1',
    ].join('\n');
    expect(findPeerUid(table, '0100007F:D431', '0100007F:0841')).toBe(61_001);
    expect(findPeerUid(table, '0100007F:D432', '0100007F:0841')).toBeNull();
  });

  // Only root can act as another user; without root, agents do not have users of their own either.
  if (process.getuid?.() === 0) {
    it('closes connections of another user', async () => {
      expect(await callAs(61_777, server.port)).toBe('hung up');
    });
  }
});
