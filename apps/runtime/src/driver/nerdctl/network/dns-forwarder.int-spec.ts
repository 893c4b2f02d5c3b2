import { createSocket, type Socket as UdpSocket } from 'node:dgram';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { eventually } from '@berth/testing';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { DnsForwarder } from './dns-forwarder.js';
import { isQuery } from './dns-message.js';
import { askByTcp, askByUdp, framed, framesOf } from './dns-upstream.js';
import { HostResolvers, parseResolvers, type Resolver } from './host-resolvers.js';

const A = 1;
const AXFR = 252;
const WITHIN_MS = 20_000;

/** A query for `example.test`. */
const query = ({ type = A, flags = 0x0100, questions = 1, id = 7 } = {}): Buffer => {
  const header = Buffer.alloc(12);
  header.writeUInt16BE(id, 0);
  header.writeUInt16BE(flags, 2);
  header.writeUInt16BE(questions, 4);
  const question = Buffer.concat([Buffer.from('\x07example\x04test\x00'), Buffer.from([0, type, 0, 1])]);
  return Buffer.concat([header, question]);
};

const responseTo = (message: Buffer): Buffer => {
  const response = Buffer.from(message);
  response.writeUInt16BE(0x8180, 2);
  return response;
};

const codeOf = (response: Buffer): number => response.readUInt16BE(2) & 0x000f;

describe('the resolver for agents', () => {
  const received: Buffer[] = [];
  let closings: (() => unknown)[];
  let upstream: Resolver;
  let forwarder: DnsForwarder;

  const listenUdp = async (respond: (message: Buffer) => Buffer | undefined): Promise<UdpSocket> => {
    const socket = createSocket('udp4').bind(0, '127.0.0.1');
    await once(socket, 'listening');
    socket.on('message', (message, { port, address }) => {
      received.push(message);
      const response = respond(message);
      if (response !== undefined) socket.send(response, port, address);
    });
    closings.push(() => socket.close());
    return socket;
  };

  /** Listens by UDP and TCP on one port, which it returns. */
  const listenByBoth = async (): Promise<number> => {
    for (;;) {
      const { port } = (await listenUdp(responseTo)).address();
      const tcp = createServer(async (socket) => {
        for await (const message of framesOf(socket)) socket.write(framed(responseTo(message)));
      }).listen(port, '127.0.0.1');
      closings.push(() => tcp.close());
      // A client of another program may have the same port by TCP.
      const isFree = await once(tcp, 'listening').then(
        () => true,
        (error: NodeJS.ErrnoException) => {
          if (error.code !== 'EADDRINUSE') throw error;
          return false;
        },
      );
      if (isFree) return port;
    }
  };

  const forwardTo = async (...resolvers: readonly Resolver[]): Promise<void> => {
    forwarder = await DnsForwarder.open('127.0.0.1', { current: async () => resolvers });
    closings.push(() => forwarder.close());
  };

  const own = (by: 'udp' | 'tcp'): Resolver => ({ address: '127.0.0.1', port: forwarder.ports[by] });
  const soon = (): AbortSignal => AbortSignal.timeout(WITHIN_MS);

  beforeEach(async () => {
    received.length = 0;
    closings = [];
    upstream = { address: '127.0.0.1', port: await listenByBoth() };
  });

  afterEach(async () => {
    for (const close of closings.toReversed()) await close();
  });

  it('forwards queries as they are, by UDP and by TCP, several on one connection', async () => {
    await forwardTo(upstream);
    expect(await askByUdp(query(), own('udp'), soon())).toEqual(responseTo(query()));
    expect(received).toEqual([query()]);
    expect(await askByTcp(query(), own('tcp'), soon())).toEqual(responseTo(query()));
    const socket = connect(own('tcp').port, '127.0.0.1');
    socket.write(Buffer.concat([framed(query({ id: 1 })), framed(query({ id: 2 }))]));
    const ids: number[] = [];
    for await (const message of framesOf(socket)) if (ids.push(message.readUInt16BE(0)) === 2) break;
    expect(ids).toEqual([1, 2]);
  });

  it('forwards nothing but one standard query: no update, no zone transfer, no response, no other text', async () => {
    const others = [
      query({ flags: 5 << 11 }),
      query({ flags: 0x8000 }),
      query({ type: AXFR }),
      query({ questions: 2 }),
      Buffer.from('GET / HTTP/1.0\r\n\r\n'),
      Buffer.from([0, 1]),
      Buffer.concat([query().subarray(0, 12), Buffer.from([0xc0, 0x0c, 0, 1, 0, 1])]),
      Buffer.concat([query(), Buffer.alloc(5_000)]),
    ];
    expect(others.map(isQuery)).toEqual(others.map(() => false));
    await forwardTo(upstream);
    const socket = createSocket('udp4');
    for (const other of others) socket.send(other, own('udp').port, '127.0.0.1');
    const byTcp = connect(own('tcp').port, '127.0.0.1');
    byTcp.end(framed(query({ type: AXFR })));
    byTcp.resume();
    await once(byTcp, 'close');
    // Sent after the others, on the same way.
    socket.send(query({ id: 99 }), own('udp').port, '127.0.0.1');
    await once(socket, 'message');
    socket.close();
    expect(received.map((message) => message.readUInt16BE(0))).toEqual([99]);
  });

  it('asks the next resolver of the host if one refuses, and fails at once if all do', async () => {
    const gone = await listenUdp(() => undefined);
    const refusing = { address: '127.0.0.1', port: gone.address().port };
    gone.close();
    closings.splice(closings.length - 1);
    await forwardTo(refusing, upstream);
    expect(codeOf(await askByUdp(query(), own('udp'), soon()))).toBe(0);
    await forwarder.close();
    await forwardTo(refusing);
    const since = performance.now();
    expect(codeOf(await askByUdp(query(), own('udp'), soon()))).toBe(2);
    expect(performance.now() - since).toBeLessThan(2_000);
  });

  it('takes only the response to its query', async () => {
    const lying = await listenUdp((message) =>
      Buffer.concat([Buffer.from([0xff, 0xff]), responseTo(message).subarray(2)]),
    );
    await forwardTo({ address: '127.0.0.1', port: lying.address().port }, upstream);
    expect((await askByUdp(query(), own('udp'), soon())).readUInt16BE(0)).toBe(7);
  });

  it('forwards a bounded number of queries at a time', async () => {
    const silent = await listenUdp(() => undefined);
    await forwardTo({ address: '127.0.0.1', port: silent.address().port });
    const client = createSocket('udp4');
    for (let id = 0; id < 200; id++) client.send(query({ id }), own('udp').port, '127.0.0.1');
    await once(client, 'message');
    expect(received.length).toBeGreaterThan(0);
    expect(received.length).toBeLessThanOrEqual(64);
    client.close();
  });

  it('forwards the queries of one agent while others use up the share of all', async () => {
    const silent = await listenUdp(() => undefined);
    await forwardTo({ address: '127.0.0.1', port: silent.address().port });
    const queryFrom = async (address: string, count: number, first: number): Promise<void> => {
      const client = createSocket('udp4').bind(0, address);
      closings.push(() => client.close());
      await once(client, 'listening');
      for (let n = 0; n < count; n++) client.send(query({ id: first + n }), own('udp').port, '127.0.0.1');
      await eventually(() => received.some((message) => message.readUInt16BE(0) === first + count - 1));
    };
    for (let agent = 1; agent <= 16; agent++) await queryFrom(`127.0.1.${agent}`, 64, agent * 100);
    await queryFrom('127.0.2.1', 1, 9_999);
  });
});

describe('the resolvers of the host', () => {
  it('are those of resolv.conf, at most three, or the host itself if there is none', () => {
    const addresses = (text: string): readonly string[] => parseResolvers(text).map(({ address }) => address);
    expect(
      addresses(
        '# nameserver 1.1.1.1\nsearch a.test\nnameserver 127.0.0.53\n nameserver ::1\nnameserver x\n',
      ),
    ).toEqual(['127.0.0.53', '::1']);
    expect(addresses('nameserver 1.1.1.1\n'.repeat(5))).toHaveLength(3);
    expect(addresses('')).toEqual(['127.0.0.1']);
  });

  it('are read again when the file changes', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'berth-resolv-'));
    const file = join(folder, 'resolv.conf');
    writeFileSync(file, 'nameserver 192.0.2.1\n');
    const resolvers = new HostResolvers(file);
    expect((await resolvers.current())[0]?.address).toBe('192.0.2.1');
    rmSync(file);
    writeFileSync(file, 'nameserver 192.0.2.2\n');
    expect((await resolvers.current())[0]?.address).toBe('192.0.2.2');
    rmSync(folder, { recursive: true });
  });
});
