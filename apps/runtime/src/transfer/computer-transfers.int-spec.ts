import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { connect, type Socket } from 'node:net';
import { APP_PROTOCOL, type Transfer } from '@berth/contracts/runtime';
import { eventually } from '@berth/testing';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { HostFixture } from '../__fixtures__/host.fixture.js';
import { refuses, respondsWith, ScriptedGuest } from '../__fixtures__/scripted-guest.fixture.js';

const ACTIONS: Transfer = { kind: 'actions' };
const SCREENSHOT: Transfer = { kind: 'screenshot', format: 'jpeg', quality: 70, scale: 0.5 };
const VNC: Transfer = { kind: 'vnc', sessionId: 'vws_1', mode: 'control', takeover: true };
const PLAN = JSON.stringify({ units: [], stopOnError: true, closing: null });

describe('the transfers of a computer', () => {
  let host: HostFixture;
  let scripted: ScriptedGuest;
  let agentId: string;

  const start = async (idleTtlSeconds: number): Promise<void> => {
    const computer = HostFixture.computer({ idleTtlSeconds });
    ({ agentId } = computer);
    await host.agents.start(computer);
    await scripted.replace(host.socketOf(agentId));
  };
  beforeEach(async () => {
    host = await HostFixture.open();
    scripted = new ScriptedGuest();
  });
  afterEach(async () => {
    await scripted.close();
    await host.destroy();
  });

  const state = (): string | undefined => host.agents.of(agentId).observed?.state;

  const act = (body = PLAN): ReturnType<HostFixture['transfer']> =>
    host.transfer(agentId, 1, ACTIONS, { method: 'POST', body });

  /** Actions that have begun, with the response of their guest. */
  const beginActions = async (): Promise<{ guest: ServerResponse; hangUp: () => void }> => {
    const begun = Promise.withResolvers<ServerResponse>();
    scripted.on('/v1/desktop/actions', (_, response) => {
      response.writeHead(200).write('\n');
      begun.resolve(response);
    });
    const { body } = await act();
    body.on('error', () => undefined);
    return { guest: await begun.promise, hangUp: () => void body.destroy() };
  };

  const pastIdle = async (): Promise<void> => {
    const since = performance.now();
    await eventually(() => performance.now() - since > 1_500);
  };

  it('include a plan of actions and what came of it', async () => {
    await start(0);
    scripted.on('/v1/desktop/actions', (request, response, body) => {
      expect([request.method, body]).toEqual(['POST', PLAN]);
      response.writeHead(200).write('\n');
      response.end('{"results":[]}\n');
    });
    const response = await act();
    expect(response).toMatchObject({ statusCode: 200, headers: { 'content-type': 'application/json' } });
    expect(await response.body.text()).toBe('\n{"results":[]}\n');
    scripted.on('/v1/desktop/actions', refuses('conflict', 'taken_over'));
    const refused = await act();
    expect(refused.statusCode).toBe(422);
    expect(await refused.body.json()).toMatchObject({ error: { kind: 'conflict', code: 'taken_over' } });
  });

  it('keep it awake until its actions are done, also when the gateway has hung up', async () => {
    await start(1);
    const { guest, hangUp } = await beginActions();
    hangUp();
    await pastIdle();
    expect(state()).toBe('running');
    expect(host.activities.get(agentId)).toMatchObject({ lastActivityKind: 'computer', sleepAt: null });
    guest.end('{}\n');
    await eventually(() => state() === 'frozen');
  });

  it('do not delay its sleep, which ends actions', async () => {
    await start(0);
    scripted.on('/v1/executions/fail', respondsWith({}));
    const { guest, hangUp } = await beginActions();
    hangUp();
    const ended = once(guest, 'close');
    await host.agents.of(agentId).freeze({ agentId, epoch: 1 });
    await ended;
    expect(state()).toBe('frozen');
  });

  it('include an image of its screen, with its size and time', async () => {
    await start(0);
    const headers = {
      'berth-width': '640',
      'berth-height': '400',
      'berth-captured-at': '2026-11-28T07:00:00.123Z',
    };
    scripted.on('/v1/desktop/screenshot', (request, response) => {
      expect(request.url).toBe('/v1/desktop/screenshot?format=jpeg&quality=70&scale=0.5');
      response.writeHead(200, { ...headers, 'content-type': 'text/html', 'set-cookie': 'a=b' }).end('image');
    });
    const response = await host.transfer(agentId, 1, SCREENSHOT);
    expect(response.headers).toMatchObject({ ...headers, 'content-type': 'image/jpeg' });
    expect(response.headers).not.toHaveProperty('set-cookie');
    expect(await response.body.text()).toBe('image');
    scripted.on('/v1/desktop/screenshot', (_, response) => {
      response.writeHead(200, { 'berth-width': '<b>', 'berth-captured-at': 'now' }).end('image');
    });
    const { headers: checked } = await host.transfer(agentId, 1, SCREENSHOT);
    expect(Object.keys(checked).filter((name) => name.startsWith('berth-'))).toEqual([]);
  });

  it('include its screen as a WebSocket, which keeps it awake until it is put to sleep', async () => {
    await start(1);
    scripted.on('/v1/executions/fail', respondsWith({}));
    scripted.onUpgrade((request, socket) => {
      expect(request.url).toBe('/v1/desktop/vnc?session=vws_1&mode=control&takeover=true');
      socket.write('HTTP/1.1 101 X\r\nconnection: Upgrade\r\nupgrade: websocket\r\n\r\n');
      socket.pipe(socket);
      socket.on('error', () => undefined);
    });
    const viewer = upgrade('websocket');
    await eventually(() => viewer.text().startsWith('HTTP/1.1 101'));
    viewer.client.write('RFB');
    await eventually(() => viewer.text().endsWith('RFB'));
    await pastIdle();
    expect(state()).toBe('running');
    expect(host.activities.get(agentId)).toMatchObject({ lastActivityKind: 'computer', sleepAt: null });
    const closed = once(viewer.client, 'close');
    await host.agents.of(agentId).freeze({ agentId, epoch: 1 });
    await closed;
    await host.agents.of(agentId).thaw({ agentId, epoch: 2 });
    const wrong = upgrade(APP_PROTOCOL, open(2));
    await eventually(() => wrong.text().startsWith('HTTP/1.1 422'));
  });

  const upgrade = (protocol: string, ticket = open()): { client: Socket; text: () => string } => {
    const { hostname, port, pathname } = new URL(host.dataPort.url);
    const client = connect(Number(port), hostname);
    let received = '';
    client.setEncoding('utf8').on('data', (chunk: string) => (received += chunk));
    client.on('error', () => undefined);
    client.write(
      `GET ${pathname} HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${ticket}\r\nconnection: Upgrade\r\n` +
        `upgrade: ${protocol}\r\nsec-websocket-key: abc\r\nsec-websocket-version: 13\r\n\r\n`,
    );
    return { client, text: () => received };
  };

  const open = (epoch = 1): string => host.transfers.open({ agentId, epoch, transfer: VNC });
});
