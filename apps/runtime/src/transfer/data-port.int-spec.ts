import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { connect } from 'node:net';
import { Readable } from 'node:stream';
import type { StartAgent, Transfer } from '@berth/contracts/runtime';
import { describeHttpFramings, eventually, RequestRecorder, sendBodyLate } from '@berth/testing';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { HostFixture, TICKET_LIFETIME_MS } from '../__fixtures__/host.fixture.js';
import { disconnects, refuses, respondsWith, ScriptedGuest } from '../__fixtures__/scripted-guest.fixture.js';

const LIST: Transfer = { kind: 'list', path: null };
const DOWNLOAD: Transfer = { kind: 'download', path: '/f', within: 'agent', limitBytes: 1_000 };
const STAGE: Transfer = { kind: 'stage', stagedId: 'stg_1', limitBytes: 1_000 };
const OUTPUT: Transfer = { kind: 'output', executionId: 'exe_1' };

describe('the data port of a host', () => {
  let host: HostFixture;
  let scripted: ScriptedGuest;
  let agentId: string;

  beforeEach(async () => {
    host = await HostFixture.open();
    scripted = new ScriptedGuest();
    agentId = await start();
    await scripted.replace(host.socketOf(agentId));
  });

  afterEach(async () => {
    await scripted.close();
    await host.destroy();
  });

  const start = async (changes: Partial<StartAgent> = {}): Promise<string> => {
    const recipe = HostFixture.recipe({ templateId: 'blank', ...changes });
    await host.agents.start(recipe);
    return recipe.agentId;
  };

  const refusalOf = async (response: Awaited<ReturnType<HostFixture['redeem']>>): Promise<unknown> => {
    expect(response.statusCode).toBe(422);
    return ((await response.body.json()) as { error: unknown }).error;
  };

  const state = (): string | undefined => host.agents.of(agentId).observed?.state;

  describe('with a guest', () => {
    let recorder: RequestRecorder;
    beforeEach(() => {
      recorder = new RequestRecorder();
      for (const path of ['/v1/files/staged', '/v1/files/list']) scripted.onArrival(path, recorder.respond);
    });
    describeHttpFramings(() => {
      const { hostname, port, pathname } = new URL(host.dataPort.url);
      return {
        target: { host: hostname, port: Number(port) },
        recorder,
        bodyMethod: 'PUT',
        forwards: (method, hasBody) => method === 'PUT' || (method === 'GET' && !hasBody),
        head: (method) => {
          const transfer = method === 'PUT' ? STAGE : LIST;
          const ticket = host.transfers.open({ agentId, epoch: 1, transfer });
          return [`${method} ${pathname} HTTP/1.1`, 'Host: x', `Authorization: Bearer ${ticket}`];
        },
      };
    });
  });

  it('transfers an agent’s bytes, and only the known headers', async () => {
    scripted.on('/v1/files/content', (request, response) => {
      expect(request.url).toBe('/v1/files/content?path=%2Ff&within=agent&limit=1000');
      expect(request.headers).toMatchObject({
        range: 'bytes=1-3',
        'if-range': '"e"',
        'if-none-match': '"n"',
      });
      expect(request.headers.authorization ?? request.headers.cookie).toBeUndefined();
      response.writeHead(206, {
        'content-length': 3,
        'content-range': 'bytes 1-3/9',
        etag: '"e"',
        'set-cookie': 'a=b',
        'content-type': 'text/html',
        location: 'http://elsewhere',
      });
      response.end('abc');
    });
    const response = await host.transfer(agentId, 1, DOWNLOAD, {
      headers: { range: 'bytes=1-3', 'if-range': '"e"', 'if-none-match': '"n"', cookie: 'c=d' },
    });
    expect(response.statusCode).toBe(206);
    expect(response.headers).toMatchObject({
      'content-length': '3',
      'content-range': 'bytes 1-3/9',
      etag: '"e"',
      'content-type': 'application/octet-stream',
    });
    expect(response.headers).not.toHaveProperty('set-cookie');
    expect(response.headers).not.toHaveProperty('location');
    expect(await response.body.text()).toBe('abc');
  });

  it('forwards a HEAD request as HEAD', async () => {
    scripted.on('/v1/files/content', (request, response) => {
      response.writeHead(request.method === 'HEAD' ? 200 : 500, { 'content-length': 900, etag: '"e"' }).end();
    });
    const response = await host.transfer(agentId, 1, DOWNLOAD, { method: 'HEAD' });
    expect(response).toMatchObject({ statusCode: 200, headers: { 'content-length': '900', etag: '"e"' } });
  });

  it('transfers bytes to an agent', async () => {
    scripted.on('/v1/files/staged', (request, response, body) =>
      respondsWith({ url: request.url, length: request.headers['content-length'], body })(
        request,
        response,
        body,
      ),
    );
    const response = await host.transfer(agentId, 1, STAGE, { method: 'PUT', body: 'hello' });
    expect(await response.body.json()).toEqual({
      url: '/v1/files/staged?id=stg_1&limit=1000',
      length: '5',
      body: 'hello',
    });
  });

  it('accepts a ticket once, and nothing else', async () => {
    scripted.on('/v1/files/list', respondsWith({ entries: [] }));
    const ticket = host.transfers.open({ agentId, epoch: 1, transfer: LIST });
    expect((await host.redeem(ticket)).statusCode).toBe(200);
    const unknown = { kind: 'unauthenticated', code: 'ticket_unknown' };
    for (const wrong of [ticket, randomBytes(32).toString('base64url'), '', 'x y']) {
      expect(await refusalOf(await host.redeem(wrong))).toMatchObject(unknown);
    }
    expect(scripted.times('/v1/files/list')).toBe(1);
  });

  it('rejects an expired ticket', async () => {
    const ticket = host.transfers.open({ agentId, epoch: 1, transfer: LIST });
    const minted = performance.now();
    await eventually(() => performance.now() - minted > TICKET_LIFETIME_MS);
    expect(await refusalOf(await host.redeem(ticket))).toMatchObject({ code: 'ticket_unknown' });
  });

  it('accepts only what the ticket permits, and any other use invalidates the ticket', async () => {
    for (const [transfer, method] of [
      [STAGE, 'GET'],
      [DOWNLOAD, 'PUT'],
      [LIST, 'HEAD'],
      [{ kind: 'console', cols: 80, rows: 24 }, 'GET'],
    ] as const) {
      const ticket = host.transfers.open({ agentId, epoch: 1, transfer });
      expect((await host.redeem(ticket, { method })).statusCode).toBe(422);
      expect(await refusalOf(await host.redeem(ticket))).toMatchObject({ code: 'ticket_unknown' });
    }
    expect(scripted.requests).toEqual([]);
  });

  it('rejects another epoch, both when the ticket is issued and when it is redeemed', async () => {
    const stale = { kind: 'conflict', code: 'stale_epoch' };
    expect(() => host.transfers.open({ agentId, epoch: 2, transfer: LIST })).toThrow(
      expect.objectContaining(stale),
    );
    const ticket = host.transfers.open({ agentId, epoch: 1, transfer: LIST });
    const agent = host.agents.of(agentId);
    await agent.thaw({ agentId, epoch: 2 });
    expect(await refusalOf(await host.redeem(ticket))).toMatchObject(stale);
    const removed = host.transfers.open({ agentId, epoch: 2, transfer: LIST });
    await host.agents.remove(agentId);
    expect(await refusalOf(await host.redeem(removed))).toMatchObject({ code: 'agent_not_on_host' });
  });

  it('passes on a guest’s error after checking it', async () => {
    scripted.on(
      '/v1/files/content',
      refuses('too_large', 'payload_too_large', { limitBytes: 1_000, x: 'y' }),
    );
    expect(await refusalOf(await host.transfer(agentId, 1, DOWNLOAD))).toEqual({
      kind: 'too_large',
      code: 'payload_too_large',
      message: 'No.',
      context: { limitBytes: 1_000 },
    });
    for (const [kind, code] of [
      ['forbidden', 'not_readable'],
      ['not_found', 'path_not_found'],
    ]) {
      scripted.on('/v1/files/list', refuses(String(kind), String(code)));
      expect(await refusalOf(await host.transfer(agentId, 1, LIST))).toMatchObject({ kind, code });
    }
  });

  it.each([
    ['disconnects', disconnects],
    ['returns another status', respondsWith({}, 302)],
    ['forges an error', refuses('unauthenticated', 'token_unknown')],
    ['sends no length', (_, response) => response.writeHead(200).end('abc')],
    [
      'exceeds the limit',
      (_, response) => response.writeHead(200, { 'content-length': 1_001 }).end('x'.repeat(1_001)),
    ],
  ] satisfies readonly (readonly [string, Parameters<ScriptedGuest['on']>[1]])[])(
    'reports a guest as unreachable that %s',
    async (_, script) => {
      scripted.on('/v1/files/content', script);
      expect(await refusalOf(await host.transfer(agentId, 1, DOWNLOAD))).toMatchObject({
        kind: 'unavailable',
        code: 'guest_unreachable',
      });
    },
  );

  it('closes the connection to the guest itself, and only after the response', async () => {
    const connection = Promise.withResolvers<{ header: string | undefined; closed: Promise<unknown> }>();
    scripted.on('/v1/files/staged', (request, response, body) => {
      connection.resolve({ header: request.headers.connection, closed: once(request.socket, 'close') });
      refuses('too_large', 'payload_too_large')(request, response, body);
    });
    const response = await host.transfer(agentId, 1, STAGE, { method: 'PUT', body: 'x' });
    expect(await refusalOf(response)).toMatchObject({ code: 'payload_too_large' });
    const { header, closed } = await connection.promise;
    expect(header).toBe('keep-alive');
    await closed;
  });

  it('returns an early error while the body is still being sent', async () => {
    scripted.onArrival('/v1/files/staged', refuses('too_large', 'payload_too_large'));
    const body = Readable.from(chunks(200), { objectMode: false });
    const response = await host.transfer(agentId, 1, STAGE, { method: 'PUT', body });
    expect(await refusalOf(response)).toMatchObject({ code: 'payload_too_large' });
  });

  it('returns an early error also to a client that sends its body after it', async () => {
    scripted.onArrival('/v1/files/staged', refuses('too_large', 'payload_too_large'));
    const { hostname, port, pathname } = new URL(host.dataPort.url);
    const ticket = host.transfers.open({ agentId, epoch: 1, transfer: STAGE });
    const { text, error } = await sendBodyLate(
      { host: hostname, port: Number(port) },
      `PUT ${pathname} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${ticket}\r\nConnection: close\r\n` +
        'Content-Length: 1000000\r\n\r\nbegun',
      Buffer.alloc(999_995),
    );
    expect(error).toBeUndefined();
    expect(text).toContain('payload_too_large');
  });

  it('ends the agent’s side when the client disconnects, in either direction', async () => {
    const ended: string[] = [];
    const hold: Parameters<ScriptedGuest['onArrival']>[1] = (request, response) => {
      response.on('close', () => ended.push(request.method ?? ''));
      request.on('error', () => undefined).resume();
      if (request.method === 'GET') response.writeHead(200).write('{');
    };
    scripted.onArrival('/v1/files/list', hold).onArrival('/v1/files/staged', hold);
    const response = await host.transfer(agentId, 1, LIST);
    response.body.destroy();
    await eventually(() => ended.includes('GET'));
    const { host: hostname, port } = new URL(host.dataPort.url);
    const ticket = host.transfers.open({ agentId, epoch: 1, transfer: STAGE });
    const client = connect(Number(port), hostname.split(':')[0]);
    client.write(
      `PUT /v1/transfer HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${ticket}\r\ncontent-length: 99\r\n\r\nhalf`,
    );
    await eventually(() => scripted.times('/v1/files/staged') === 1);
    client.destroy();
    await eventually(() => ended.includes('PUT'));
  });

  it('disconnects when the agent’s side disconnects, so that a partial body does not look complete', async () => {
    scripted.on('/v1/files/content', (request, response) => {
      response.writeHead(200, { 'content-length': 900 }).write('only a part', () => request.socket.destroy());
    });
    const response = await host.transfer(agentId, 1, DOWNLOAD);
    expect(response.statusCode).toBe(200);
    await expect(response.body.text()).rejects.toThrow();
  });

  describe('and an agent that falls asleep when idle', () => {
    const IDLE_MS = 1_000;

    beforeEach(async () => {
      agentId = await start({ idleTtlSeconds: IDLE_MS / 1000 });
      scripted.hangUp();
      await scripted.replace(host.socketOf(agentId));
    });

    const pastIdle = async (): Promise<void> => {
      const since = performance.now();
      await eventually(() => performance.now() - since > 1.5 * IDLE_MS);
    };

    const hold: Parameters<ScriptedGuest['on']>[1] = (_, response) => void response.writeHead(200).write('{');

    it('stays awake while a transfer runs, and no longer', async () => {
      scripted.on('/v1/files/list', hold);
      const response = await host.transfer(agentId, 1, LIST);
      await pastIdle();
      expect(state()).toBe('running');
      expect(host.activities.get(agentId)).toMatchObject({ lastActivityKind: 'file', sleepAt: null });
      response.body.destroy();
      await eventually(() => state() === 'frozen');
    });

    it('stays awake while a ticket is valid, and no longer', async () => {
      host.transfers.open({ agentId, epoch: 1, transfer: LIST });
      await pastIdle();
      expect(state()).toBe('running');
      await eventually(() => state() === 'frozen');
    });

    it('falls asleep even if a client follows an output that stays empty', async () => {
      scripted.on('/v1/executions/output', hold);
      const response = await host.transfer(agentId, 1, OUTPUT);
      await eventually(() => state() === 'frozen');
      await expect(response.body.text()).rejects.toThrow();
    });
  });

  it.each([
    ['put to sleep', () => host.agents.of(agentId).freeze({ agentId, epoch: 1 })],
    ['stopped', () => host.agents.of(agentId).stop({ agentId, epoch: 1 })],
    ['removed', () => host.agents.remove(agentId)],
  ])('immediately ends the transfers of an agent that is %s', async (_, end) => {
    scripted
      .on('/v1/files/list', (__, response) => void response.writeHead(200).write('{'))
      .onArrival('/v1/files/staged', (request) => void request.on('error', () => undefined).resume())
      .on('/v1/executions/fail', respondsWith({}))
      .on('/v1/shutdown', respondsWith({}));
    const open = await host.transfer(agentId, 1, LIST);
    const waiting = host.transfer(agentId, 1, STAGE, {
      method: 'PUT',
      body: begunBody(),
    });
    const held = host.transfers.open({ agentId, epoch: 1, transfer: LIST });
    await eventually(() => scripted.times('/v1/files/staged') === 1);
    const begunAt = performance.now();
    await Promise.all([end(), expect(open.body.text()).rejects.toThrow()]);
    expect(performance.now() - begunAt).toBeLessThan(9_000);
    expect(await refusalOf(await waiting)).toMatchObject({ code: 'stale_epoch' });
    expect((await host.redeem(held)).statusCode).toBe(422);
  });

  it('connects a client and an agent’s terminal, byte for byte, and closes both sides with either', async () => {
    const guests: import('node:stream').Duplex[] = [];
    scripted.onUpgrade((request, socket) => {
      guests.push(socket);
      socket.write(
        `HTTP/1.1 101 Switching Protocols\r\nconnection: Upgrade\r\nupgrade: websocket\r\nx-path: ${request.url}\r\n` +
          `sec-websocket-accept: for ${String(request.headers['sec-websocket-key'])}\r\n\r\nfirst`,
      );
      socket.pipe(socket);
      socket.on('error', () => undefined);
    });
    for (const side of ['client', 'guest'] as const) {
      const { client, text } = openConsole();
      await eventually(() => text().endsWith('first'));
      expect(text()).toMatch(/^HTTP\/1.1 101 .*sec-websocket-accept: for abc\r\n/s);
      expect(text()).not.toContain('x-path');
      client.write('echo me');
      await eventually(() => text().endsWith('firstecho me'));
      const guest = guests.pop();
      if (side === 'client') client.end();
      else guest?.end();
      await eventually(() => client.destroyed && guest?.destroyed === true);
    }
    expect(scripted.requests).toEqual([]);
  });

  it('passes on the error for a terminal, and accepts no other upgrade', async () => {
    scripted.onUpgrade((_, socket) => {
      const body = JSON.stringify({
        error: { kind: 'exhausted', code: 'too_many_consoles', message: 'No.', context: {} },
      });
      socket.end(`HTTP/1.1 422 X\r\ncontent-length: ${body.length}\r\n\r\n${body}`);
    });
    const refused = openConsole();
    await once(refused.client, 'close');
    expect(refused.text()).toMatch(/^HTTP\/1.1 422 .*too_many_consoles/s);
    for (const wrong of [
      openConsole('nonsense'),
      openConsole(host.transfers.open({ agentId, epoch: 1, transfer: LIST })),
    ]) {
      await once(wrong.client, 'close');
      expect(wrong.text()).toMatch(/^HTTP\/1.1 422 .*(ticket_unknown|invalid_request)/s);
    }
  });

  it('refuses an upgrade with a body, whose bytes would be read as those of the terminal', async () => {
    const { client, text } = openConsole(undefined, ['transfer-encoding: chunked']);
    client.write('5\r\nhello\r\n0\r\n\r\n');
    await once(client, 'close');
    expect(text()).toMatch(/^HTTP\/1.1 422 .*invalid_request/s);
  });

  it('keeps an agent awake while a terminal is open, and closes it when the agent is put to sleep', async () => {
    scripted.onUpgrade((_, socket) => {
      socket.write('HTTP/1.1 101 X\r\nconnection: Upgrade\r\nupgrade: websocket\r\n\r\n');
      socket.on('error', () => undefined);
    });
    scripted.on('/v1/executions/fail', respondsWith({}));
    const { client, text } = openConsole();
    await eventually(() => text().startsWith('HTTP/1.1 101'));
    expect(host.activities.get(agentId)).toMatchObject({ lastActivityKind: 'console', sleepAt: null });
    const closed = once(client, 'close');
    await host.agents.of(agentId).freeze({ agentId, epoch: 1 });
    await closed;
    expect(state()).toBe('frozen');
  });

  const openConsole = (
    ticket = host.transfers.open({ agentId, epoch: 1, transfer: { kind: 'console', cols: 80, rows: 24 } }),
    more: readonly string[] = [],
  ): { client: import('node:net').Socket; text: () => string } => {
    const { hostname, port, pathname } = new URL(host.dataPort.url);
    const client = connect(Number(port), hostname);
    let received = '';
    client.setEncoding('utf8').on('data', (chunk: string) => (received += chunk));
    client.on('error', () => undefined);
    client.write(
      `GET ${pathname} HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${ticket}\r\nconnection: Upgrade\r\n` +
        `upgrade: websocket\r\nsec-websocket-key: abc\r\nsec-websocket-version: 13\r\n${more.map((line) => `${line}\r\n`).join('')}\r\n`,
    );
    return { client, text: () => received };
  };
});

/** A body that begins and never ends. */
const begunBody = (): Readable => {
  const body = new Readable({ read: () => undefined });
  body.push('half');
  return body;
};

function* chunks(count: number): Generator<Buffer> {
  for (let index = 0; index < count; index++) yield Buffer.alloc(65_536);
}
