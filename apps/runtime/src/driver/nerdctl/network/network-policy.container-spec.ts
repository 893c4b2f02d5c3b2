import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type AddressInfo, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { OperatorFile } from '@berth/operator-file';
import { metrics } from '@berth/telemetry';
import { containerTestHost } from '@berth/testing';
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { DriverFixture, type StartedBox } from '../../driver-contract/driver.fixture.js';
import {
  OutsideNetwork,
  HOST_ADDRESSES,
  PUBLIC_ADDRESSES,
  RESOLVER,
} from '../__fixtures__/outside-network.fixture.js';
import {
  nerdctlDriverOn,
  nerdctlDriverUnderTest,
  operatorFileWith,
} from '../__fixtures__/nerdctl-driver.fixture.js';
import { MOST_CONNECTIONS } from './rule-set.js';
import { describeNetworkLifecycle } from './network-lifecycle.suite.js';
import { describeNetworkSettings } from './network-settings.suite.js';
import { attemptFrom, tcp, udp, type Attempt, type Target } from '../__fixtures__/network-probe.fixture.js';

const AT_ONCE_MS = 1_000;
const CHECK_EVERY_MS = 50;
const CLOSED_4 = [
  '10.1.2.3',
  '10.255.255.254',
  '172.16.0.1',
  '172.31.255.254',
  '192.168.0.1',
  '192.168.77.1',
  '100.64.0.1',
  '100.127.255.254',
  '169.254.169.254',
  '198.18.255.1',
  '192.0.0.1',
  '0.1.2.3',
  '168.63.129.16',
];
const CLOSED_6 = [
  'fd00::1',
  'fc00::1',
  'fec0::1',
  '64:ff9b::10.1.2.3',
  '64:ff9b::169.254.169.254',
  '64:ff9b:1::1',
  '2002:a01:203::1',
  '::ffff:10.1.2.3',
  '::ffff:0:10.1.2.3',
  '64:ff9b::168.63.129.16',
  '5f00::1',
];

const outcomes = (attempts: readonly Attempt[]): readonly string[] =>
  attempts.map(({ by, host, port, outcome }) => `${by} ${host} ${port} ${outcome}`);

/** Every target, with that outcome. */
const all = (targets: readonly Target[], outcome: string): readonly string[] =>
  targets.map(({ by, host, port }) => `${by} ${host} ${port} ${outcome}`);

let folder: string;
let outside: OutsideNetwork;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'berth-network-'));
  writeFileSync(join(folder, 'resolv.conf'), `nameserver ${RESOLVER}\n`);
  outside = await OutsideNetwork.open();
});

afterAll(async () => {
  await outside.close();
  rmSync(folder, { recursive: true, force: true });
});

const installation = (operator: { current: OperatorFile }): Promise<DriverFixture> =>
  DriverFixture.open({
    ...nerdctlDriverUnderTest,
    create: (dataDir) =>
      nerdctlDriverOn(dataDir, containerTestHost().address, {
        operator,
        network: { hostResolvConf: join(folder, 'resolv.conf'), checkEveryMs: CHECK_EVERY_MS },
      }),
  });

describe('the outward network of an agent in a container', () => {
  let host: DriverFixture;
  let started: StartedBox;

  beforeAll(async () => {
    host = await installation({ current: operatorFileWith('{}') });
    started = await host.start();
  });

  afterAll(() => host.destroy());

  beforeEach(() => void outside.takeContacts());

  it('reaches the public Internet by address and by name, in both families', async () => {
    const targets = [
      ...PUBLIC_ADDRESSES.flatMap((address) => [tcp(address), udp(address)]),
      tcp('a-198-51-100-8.test'),
    ];
    expect(outcomes(await attemptFrom(started, targets))).toEqual(all(targets, 'open'));
    expect(outside.takeContacts()).toEqual(
      expect.arrayContaining(['tcp 198.51.100.7 80', 'tcp 2620:fe::9 80', 'tcp 198.51.100.8 80']),
    );
  });

  it('is seen outside with the address of the host only', async () => {
    expect(await started.sh('nc 198.51.100.7 80 < /dev/null')).toContain(`from ${HOST_ADDRESSES.public4}`);
  });

  it('reaches no private, shared, link-local or otherwise special network: refused at once, TCP by a reset', async () => {
    const targets = [...CLOSED_4, ...CLOSED_6].map((address) => tcp(address));
    const attempts = await attemptFrom(started, targets);
    expect(outcomes(attempts)).toEqual(all(targets, 'ECONNREFUSED'));
    expect(Math.max(...attempts.map(({ ms }) => ms))).toBeLessThan(AT_ONCE_MS);
    expect(outside.takeContacts()).toEqual([]);
  });

  it('reaches none of them by name either', async () => {
    const targets = [
      tcp('a-10-1-2-3.test'),
      tcp('a-169-254-169-254.test'),
      tcp('a-203-0-113-2.test'),
      tcp('six.test'),
    ];
    expect(outcomes(await attemptFrom(started, targets))).toEqual(all(targets, 'ECONNREFUSED'));
    expect(outside.takeContacts().filter((contact) => !contact.startsWith('dns'))).toEqual([]);
  });

  it('reaches none of them by UDP', async () => {
    const targets = [...CLOSED_4, ...CLOSED_6, '224.0.0.251', '255.255.255.255', 'ff02::1'].map((address) =>
      udp(address),
    );
    for (const { outcome } of await attemptFrom(started, targets)) expect(outcome).not.toBe('open');
    expect(outside.takeContacts()).toEqual([]);
    const [first] = await attemptFrom(started, [udp('192.168.77.1')]);
    expect(first?.outcome).toBe('ECONNREFUSED');
  });

  it('reaches no port on any address of the host', async () => {
    const server = createServer((socket) => socket.end('the host'));
    server.listen(0, '::');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const gateway = await started.sh(`cut -d" " -f2 /etc/resolv.conf`);
    const addresses = [...Object.values(HOST_ADDRESSES), gateway, '127.0.0.1', '::1'];
    const targets = addresses.map((address) => tcp(address, port));
    expect(outcomes(await attemptFrom(started, targets))).toEqual(all(targets, 'ECONNREFUSED'));
    await closed(server);
    const heard: string[] = [];
    const datagrams = createSocket('udp4').on('message', (message) => heard.push(message.toString()));
    datagrams.bind(port, '0.0.0.0');
    await once(datagrams, 'listening');
    const byUdp = [HOST_ADDRESSES.public4, HOST_ADDRESSES.private4, gateway].map((address) =>
      udp(address, port),
    );
    await attemptFrom(started, byUdp);
    expect(heard).toEqual([]);
    datagrams.close();
  });

  it('does not reach another agent, and nothing outside reaches an agent', async () => {
    const other = await host.start();
    await other.detach('while :; do echo hello | nc -l -p 7000; done');
    const address = await addressOf(other);
    expect(outcomes(await attemptFrom(started, [tcp(address, 7000)]))).toEqual([
      `tcp ${address} 7000 ECONNREFUSED`,
    ]);
    // From a public address too: its responses would not be refused.
    for (const from of ['192.168.77.1', PUBLIC_ADDRESSES[0]])
      expect(outside.connect(from, address, 7000)).toBe('ECONNREFUSED');
    await host.driver.stop(other.box.agentId, 0);
  });

  // Last: the kernel delays the refusals of all after so many of one agent.
  it('is limited to 8,192 connections of one agent at a time, while another agent connects', async () => {
    const repairs = vi.spyOn(metrics.counter('berth_network_policy_repairs', ''), 'inc');
    const many = `const socket = require('node:dgram').createSocket('udp4');
      let port = 1;
      const next = () => { for (let n = 0; n < 100; n++) socket.send('x', port++, '198.51.100.7', () => {}); };
      const timer = setInterval(() => port > 12000 ? (clearInterval(timer), socket.close()) : next(), 5);
      socket.on('error', () => {});`;
    const greedy = await host.start();
    await greedy.sh(`node -e "${many}"`);
    const tracked = Number(readFileSync('/proc/sys/net/netfilter/nf_conntrack_count', 'utf8'));
    expect(tracked).toBeGreaterThan(MOST_CONNECTIONS - 500);
    expect(tracked).toBeLessThan(MOST_CONNECTIONS + 500);
    expect(outcomes(await attemptFrom(greedy, [tcp('198.51.100.9')]))).toEqual([
      'tcp 198.51.100.9 80 ECONNREFUSED',
    ]);
    expect(outcomes(await attemptFrom(started, [tcp('198.51.100.9')]))).toEqual(['tcp 198.51.100.9 80 open']);
    // Each start checks the policy, whose counters have changed.
    await host.start();
    expect(repairs).not.toHaveBeenCalled();
    repairs.mockRestore();
  });
});

describeNetworkSettings(() => outside, installation);
describeNetworkLifecycle(
  () => outside,
  () => installation({ current: operatorFileWith('{}') }),
);

const closed = async (server: Server): Promise<void> => {
  const done = once(server, 'close');
  server.close();
  await done;
};

/** The agent's own IPv4 address. */
const addressOf = async (started: StartedBox): Promise<string> =>
  started.sh(
    `node -p 'require("node:os").networkInterfaces().eth0.find(({ family }) => family === "IPv4").address'`,
  );
