import { eventually, freePort } from '@berth/testing';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { Api } from './api.fixture.js';
import { Executions } from './executions.fixture.js';
import { guestOf, programOf, runningPart } from './processes.fixture.js';
import { BEHAVIOURS, RawClients, type Behaviour, type Listener } from './raw-clients.fixture.js';
import {
  childrenOf,
  connectionsOf,
  descriptorsOf,
  listeningPortOf,
  memoryOf,
  variableOf,
} from './resources.fixture.js';
import { startStandaloneStack, temporaryFolder, type StandaloneStack } from './stack.fixture.js';

const MAX_CONNECTIONS = 400;
const CLIENTS_PER_CASE = 2;
/** Descriptors that come and go: pooled connections, files being read. */
const SPARE_DESCRIPTORS = 16;
const SPARE_BYTES = 200 * 1_024 * 1_024;
/** The longest timeout of any port, and the time to notice it. */
const BOUNDED_MS = 50_000;

const pidOf = (pid: number | undefined): number => {
  if (pid === undefined) throw new Error('The process does not run.');
  return pid;
};

const takeStock = (pid: number) => ({
  pid,
  descriptors: descriptorsOf(pid),
  children: childrenOf(pid),
  memory: memoryOf(pid),
});

const withFrame = (request: string, frame: readonly number[]): Buffer =>
  Buffer.concat([Buffer.from(request), Buffer.from(frame)]);

/** Only the runtime can reach a guest's socket: to a guest, a console that stays open is one in use. */
const AT_GUEST_CONSOLE = 'at a console of the guest';
const STAYING: ReadonlySet<Behaviour> = new Set(['stalls', 'stops reading']);
const ALL = Object.keys(BEHAVIOURS) as Behaviour[];

/**
 * Raw clients at all listeners, and `flood` at the gateway at once. They show `every` behaviour at every moment, or `one` at
 * each moment, in turns: then each listener meets all moments and all behaviours.
 */
export const describeRawSockets = ({
  cases,
  flood,
}: {
  readonly cases: 'every' | 'one';
  readonly flood: number;
}): void => {
  const folder = temporaryFolder();
  const clients = new RawClients();
  let stack: StandaloneStack;
  let api: Api;
  let agentId: string;
  let listeners: Readonly<Record<string, Listener>>;
  /** Processes that must survive, with their resources before the attacks. */
  let processes: Readonly<
    Record<
      string,
      {
        readonly pid: number;
        readonly descriptors: number;
        readonly children: number;
        readonly memory: number;
      }
    >
  >;

  beforeAll(async () => {
    const [metricsPort, dataPort] = [await freePort(), await freePort()];
    stack = await startStandaloneStack(folder.path, {
      BERTH_CLIENT_TIMEOUT_SECONDS: '3',
      BERTH_MAX_CONNECTIONS: String(MAX_CONNECTIONS),
      BERTH_METRICS_PORT: String(metricsPort),
      BERTH_DATA_PORT: String(dataPort),
    });
    api = new Api(() => stack);
    agentId = (await api.runningAgent({ idleTtlSeconds: 0 })).id;
    const guest = pidOf(guestOf(agentId));
    listeners = {
      gateway: Number(new URL(stack.urls[0] ?? '').port),
      'data port': dataPort,
      metrics: metricsPort,
      'event store': listeningPortOf(runningPart(stack.dataDir, 'event-store')),
      guest: variableOf(guest, 'BERTH_GUEST_SOCKET'),
      'agent relay': Number(new URL(variableOf(pidOf(programOf(agentId)), 'BERTH_API_URL')).port),
    };
  });
  afterAll(async () => {
    clients.close();
    await stack.stop();
    folder.remove();
  });

  /** Everything that an API consumer does, through every part. */
  const useEverything = async (): Promise<void> => {
    expect(await api.chat(agentId, 'hello')).toMatchObject({
      status: 200,
      body: { response: expect.stringContaining('hello') as string },
    });
    expect((await new Executions(api, agentId).run('echo there')).body.stdout).toBe('there\n');
    const written = await api.call('PUT', `/api/agents/${agentId}/files/write`, {
      body: { path: 'a', content: 'b' },
    });
    expect(written.status).toBe(200);
    expect((await api.get(`/api/agents/${agentId}/files/list`)).status).toBe(200);
  };

  beforeEach(async () => {
    await useEverything();
    processes = {
      berth: takeStock(pidOf(stack.program.child.pid)),
      'event store': takeStock(runningPart(stack.dataDir, 'event-store')),
      guest: takeStock(pidOf(guestOf(agentId))),
    };
  });

  /** The stalling clients stay connected in the meantime. */
  afterEach(async () => {
    await useEverything();
    await eventually(
      () => {
        for (const [name, before] of Object.entries(processes)) {
          const now = takeStock(before.pid);
          const held = `connections by port: ${JSON.stringify(connectionsOf(before.pid))}`;
          expect(now.descriptors, `descriptors of ${name}, ${held}`).toBeLessThanOrEqual(
            before.descriptors + SPARE_DESCRIPTORS,
          );
          expect(now.children, `children of ${name}`).toBeLessThanOrEqual(before.children);
          expect(now.memory, `memory of ${name}`).toBeLessThan(before.memory + SPARE_BYTES);
        }
      },
      { timeoutMs: BOUNDED_MS, intervalMs: 500 },
    );
    expect(runningPart(stack.dataDir, 'event-store')).toBe(processes['event store']?.pid);
    expect(guestOf(agentId)).toBe(processes['guest']?.pid);
    clients.close();
  }, 90_000);

  const bearer = (): string => `Authorization: Bearer ${stack.key}\r\n`;

  const handshake = (path: string): string =>
    `GET ${path} HTTP/1.1\r\nHost: x\r\n${bearer()}Connection: Upgrade, close\r\nUpgrade: websocket\r\n` +
    'Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n';

  const post = (path: string, ...headers: readonly string[]): string =>
    [`POST ${path} HTTP/1.1`, 'Host: x', ...headers, ''].join('\r\n') + bearer();

  /**
   * How far each client gets. Complete requests ask to close the connection, because a server may wait a minute for the
   * next one.
   */
  const moments = (): Readonly<Record<string, string | Uint8Array>> => {
    const console = `/api/agents/${agentId}/console`;
    const many = 'GET /openapi.json HTTP/1.1\r\nHost: x\r\n\r\n';
    const write = post(`/api/agents/${agentId}/files/write`).replace('POST', 'PUT');
    return {
      'before the first byte': '',
      'with line breaks': '\r\n\r\n',
      'in the request line': 'GET /heal',
      'in the headers': `GET /health HTTP/1.1\r\nHost: x\r\n${bearer()}X-A: `,
      'behind the headers': `GET /metrics HTTP/1.1\r\nHost: x\r\n${bearer()}Connection: close\r\n\r\n`,
      'behind many requests': many.repeat(200) + many.replace('Host: x', 'Host: x\r\nConnection: close'),
      'in a body with a length': `${post('/api/agents', 'Content-Length: 90')}\r\n{"na`,
      'in a chunked body': `${post('/api/agents', 'Transfer-Encoding: chunked')}\r\n9\r\n{"na`,
      'in a streamed body': `${write}Content-Length: 90\r\n\r\n{"path": "b", "content": "`,
      'in a body that waits': `${post('/api/agents', 'Content-Length: 90', 'Expect: 100-continue')}\r\n`,
      'in a body of the guest': `${post('/v1/executions', 'Content-Length: 90')}\r\n{"na`,
      'in a transfer':
        'PUT /v1/transfer HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer x\r\nContent-Length: 90\r\n\r\nab',
      'at a refused upgrade': handshake('/v1/transfer'),
      'at a console': handshake(console),
      'in a console': withFrame(handshake(console), [0x82, 0x84, 0, 0, 0, 0, 0x79, 0x65, 0x73, 0x0a]),
      'in a frame of a console': withFrame(handshake(console), [0x82, 0x84, 0]),
      'in a broken frame of a console': withFrame(handshake(console), [0xff, 0xff, 0xff]),
      'at a bad console': handshake(console).replace('13', '8'),
      [AT_GUEST_CONSOLE]: handshake('/v1/console?cols=80&rows=24'),
      'at a tunnel': 'CONNECT x:1 HTTP/1.1\r\nHost: x\r\n\r\n',
      'with no HTTP': Buffer.from('\0\x01\xff\r\nBLURB\r\n\r\n', 'latin1'),
      'with a preface of HTTP/2': 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n',
    };
  };

  /** The behaviours of the clients that get that far at a listener. */
  const behavioursAt = (moment: string, nth: number): readonly Behaviour[] => {
    const usable = ALL.filter((behaviour) => moment !== AT_GUEST_CONSOLE || !STAYING.has(behaviour));
    return cases === 'every' ? usable : usable.filter((_, index) => index === nth % usable.length);
  };

  describe('clients that reset, stall, half-close, flood and do not read', () => {
    it('at any point on any port leave nothing behind', async () => {
      for (const [at, listener] of Object.values(listeners).entries()) {
        const met = new Set<Behaviour>();
        for (const [nth, [moment, bytes]] of Object.entries(moments()).entries()) {
          const behaviours = behavioursAt(moment, at + nth);
          const attacks = behaviours.flatMap((behaviour) =>
            Array.from({ length: CLIENTS_PER_CASE }, () => clients.attack(listener, bytes, behaviour)),
          );
          await Promise.all(attacks);
          for (const behaviour of behaviours) met.add(behaviour);
        }
        expect([...met].toSorted()).toEqual(ALL.toSorted());
      }
      expect((await api.get('/api/agents')).status).toBe(200);
    });

    it(`in a crowd of ${String(flood)} do not keep others from being served`, async () => {
      const stalling = Array.from({ length: flood }, (_, index) =>
        clients.attack(listeners['gateway'] ?? 0, index % 2 === 0 ? '' : 'GET /heal', 'stalls'),
      );
      await Promise.all(stalling);
      // Idle connections give way to new ones, also the one that our client would use next.
      await eventually(() => api.get('/health'), { timeoutMs: 5_000 });
      await useEverything();
      const { pid = 0, descriptors = 0 } = processes['berth'] ?? {};
      expect(descriptorsOf(pid)).toBeLessThanOrEqual(descriptors + MAX_CONNECTIONS + SPARE_DESCRIPTORS);
    });
  });
};
