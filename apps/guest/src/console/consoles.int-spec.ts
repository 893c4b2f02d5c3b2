import { once } from 'node:events';
import { chownSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Server } from 'node:http';
import type { PutProgram } from '@berth/guest-protocol';
import { eventually } from '@berth/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import WebSocket from 'ws';
import { createGuestServer } from '../server/guest-server.js';
import { consoleRoutes, Consoles } from './consoles.js';

const isRoot = process.getuid?.() === 0;
const runAs = isRoot ? { uid: 61_234, gid: 61_234 } : null;
const dir = mkdtempSync(join(tmpdir(), 'console-'));
const volume = join(dir, 'volume');
const socket = join(dir, 'guest.sock');
const program = { runAs, volume } as PutProgram;
const consoles = new Consoles(() => ({ program, env: { PATH: '/usr/bin:/bin', HOME: volume, MINE: 'yes' } }));
let server: Server;

beforeAll(async () => {
  if (isRoot) process.setgroups?.([]);
  mkdirSync(volume);
  if (runAs !== null) for (const path of [dir, volume]) chownSync(path, runAs.uid, runAs.gid);
  server = createGuestServer(() => consoleRoutes(consoles));
  await once(server.listen(socket), 'listening');
});
afterAll(async () => {
  await consoles.close();
  server.closeAllConnections();
  server.close();
  rmSync(dir, { recursive: true, force: true });
});

class Client {
  readonly #chunks: Buffer[] = [];
  readonly closed: Promise<number>;

  private constructor(readonly socket: WebSocket) {
    socket.on('message', (data, isBinary) => {
      expect(isBinary).toBe(true);
      this.#chunks.push(data as Buffer);
    });
    this.closed = once(socket, 'close').then(([code]) => code as number);
  }

  static async open(query = 'cols=80&rows=24'): Promise<Client> {
    const client = new Client(new WebSocket(`ws+unix://${socket}:/v1/console?${query}`));
    await once(client.socket, 'open');
    return client;
  }

  get bytes(): Buffer {
    const all = Buffer.concat(this.#chunks);
    this.#chunks.splice(0, this.#chunks.length, all);
    return all;
  }

  get text(): string {
    return this.bytes.toString('utf8');
  }

  type(text: string): void {
    this.socket.send(Buffer.from(text));
  }

  /** Resolves once the text has arrived. Rejects if nothing at all arrives for ten seconds. */
  async shows(text: string): Promise<void> {
    let searched = 0;
    let quietSince = performance.now();
    for (;;) {
      const { bytes } = this;
      if (bytes.includes(text, Math.max(0, searched - text.length))) return;
      if (bytes.length > searched) quietSince = performance.now();
      if (performance.now() - quietSince > 10_000) throw new Error(`The console does not show ${text}.`);
      searched = bytes.length;
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  }
}

const refusal = async (query: string): Promise<{ status: number; code: string }> => {
  const client = new WebSocket(`ws+unix://${socket}:/v1/console?${query}`);
  client.on('error', () => undefined);
  const [, response] = (await once(client, 'unexpected-response')) as [
    unknown,
    AsyncIterable<Buffer> & { statusCode: number },
  ];
  const chunks: Buffer[] = [];
  for await (const chunk of response) chunks.push(chunk);
  const body = JSON.parse(Buffer.concat(chunks).toString()) as { error: { code: string } };
  return { status: response.statusCode, code: body.error.code };
};

const isAlive = (pid: number): boolean => {
  try {
    return !readFileSync(`/proc/${pid}/stat`, 'utf8').includes(') Z ');
  } catch {
    return false;
  }
};

describe('a console', () => {
  it("is a terminal with the agent's environment, in its volume", async () => {
    const client = await Client.open();
    client.type('test -t 0 && test -t 1 && echo "$MINE:$TERM:$PWD:end"\n');
    await client.shows(`yes:xterm-256color:${volume}:end`);
    client.socket.close();
  });

  it("runs as the agent's own user only, groups included", async () => {
    const client = await Client.open();
    client.type('echo "[$(id -u) $(id -G)]"\n');
    await client.shows(runAs === null ? `[${process.getuid?.()} ` : '[61234 61234]');
    client.socket.close();
  });

  it('has the size it was opened with, and each later size', async () => {
    const client = await Client.open('cols=97&rows=31');
    client.type('echo "<$(stty size)>"\n');
    await client.shows('<31 97>');
    for (const nonsense of ['{', '[]', 'null', '{"type":"resize","cols":0,"rows":5}', '{"type":"other"}']) {
      client.socket.send(nonsense);
    }
    client.socket.send(JSON.stringify({ type: 'resize', cols: 120, rows: 40 }));
    client.type('echo "<$(stty size)>"\n');
    await client.shows('<40 120>');
    client.socket.close();
  });

  it.each(['cols=0&rows=5', 'cols=5', 'cols=1e9&rows=5', 'cols=a&rows=5', 'cols=2.5&rows=5'])(
    'is rejected with the size %s',
    async (query) => {
      expect(await refusal(query)).toEqual({ status: 422, code: 'invalid_size' });
    },
  );

  it('passes every byte unchanged, both ways', async () => {
    const client = await Client.open();
    client.type(
      'stty raw -echo; echo re""ady; head -c 256 | od -An -v -tx1 -w256; printf "\\377\\376\\000\\200"; echo do""ne\n',
    );
    await client.shows('ready');
    client.socket.send(Buffer.from(Array.from({ length: 256 }, (_, byte) => byte)));
    await client.shows('done');
    const all = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, '0')).join(' ');
    expect(client.text).toContain(all);
    expect(client.bytes.includes(Buffer.from([0xff, 0xfe, 0x00, 0x80]))).toBe(true);
    client.socket.close();
  });

  it('is killed before the guest when memory runs out', async () => {
    const client = await Client.open();
    client.type('until [ "$(cat /proc/self/oom_score_adj)" = 800 ]; do :; done; echo first to g""o\n');
    await client.shows('first to go');
    client.socket.close();
  });

  it('closes when the shell ends', async () => {
    const client = await Client.open();
    client.type('exit 3\n');
    expect(await client.closed).toBe(1000);
  });

  it('ends the shell and its processes when the socket closes, even one that ignores the hang-up', async () => {
    const client = await Client.open();
    client.type('trap "" HUP; echo "pid=$$."; sleep 1000\n');
    await eventually(() => /pid=\d+\./.test(client.text), { timeoutMs: 10_000 });
    const pid = Number(/pid=(\d+)\./.exec(client.text)?.[1]);
    expect(isAlive(pid)).toBe(true);
    client.socket.terminate();
    await eventually(() => !isAlive(pid), { timeoutMs: 10_000 });
  });

  it('keeps a large paste for a shell that does not read yet, while the guest serves other requests', async () => {
    const client = await Client.open();
    client.type('stty raw -echo; echo re""ady; sleep 4; head -c 1000000 | wc -c; kill -9 $$\n');
    await client.shows('ready');
    for (let part = 0; part < 10; part++) client.socket.send(Buffer.alloc(100_000, 'a'));
    const since = performance.now();
    for (let other = 0; other < 5; other++) {
      const { socket: quick } = await Client.open();
      quick.terminate();
    }
    expect(performance.now() - since).toBeLessThan(3_000);
    await client.shows('1000000');
    expect(await client.closed).toBe(1000);
  });

  it('holds output back while its reader is slow, and loses none', async () => {
    const lines = 250_000;
    const write = (file: string): string =>
      `stty -echo; echo go; yes 0123456789abcdef | head -n ${lines}; touch ${file}; echo en""d\n`;
    const slow = await Client.open();
    slow.socket.pause();
    slow.type(write('slow'));
    // A reader that keeps up has read the same output twice by the time the slow one begins to read.
    for (const file of ['first', 'second']) {
      const quick = await Client.open();
      quick.type(write(file));
      await quick.shows('end');
      quick.socket.close();
    }
    expect(existsSync(join(volume, 'slow'))).toBe(false);
    slow.socket.resume();
    await slow.shows('end');
    expect(existsSync(join(volume, 'slow'))).toBe(true);
    expect(slow.text.match(/^0123456789abcdef\r$/gm)).toHaveLength(lines);
    slow.socket.close();
  }, 120_000);
});
