import { execFileSync, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { eventually } from '@berth/testing';
import { expect } from 'vitest';

const HOST_LINK = 'cable0';
/** The resolver that the host uses, and addresses that respond by UDP too. */
export const RESOLVER = '9.9.9.9';
export const PUBLIC_ADDRESSES = ['198.51.100.7', '2620:fe::9'] as const;
const FORWARDING_6 = '/proc/sys/net/ipv6/conf/all/forwarding';

/** The host's addresses on the cable, the first a public one. */
export const HOST_ADDRESSES = {
  public4: '203.0.113.2',
  private4: '192.168.77.2',
  public6: '2001:db8:77::2',
} as const;

/**
 * Everything outside of the host: a network namespace at the end of a cable, with a process that responds on every
 * address of both families and notes each contact. The host has a public and a private address on the cable.
 */
export class OutsideNetwork {
  readonly #contacts: string[] = [];

  private constructor(
    private readonly namespace: ChildProcess,
    private readonly process: ChildProcess,
  ) {
    createInterface({ input: process.stdout as NodeJS.ReadableStream }).on('line', (line) =>
      this.#contacts.push(line),
    );
  }

  static async open(): Promise<OutsideNetwork> {
    const namespace = spawn('unshare', ['--net', 'sh', '-c', 'echo up; exec sleep infinity'], {
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    await once(namespace.stdout as NodeJS.ReadableStream, 'data');
    const path = `/proc/${String(namespace.pid)}/ns/net`;
    const { public4, private4, public6 } = HOST_ADDRESSES;
    ip(`link add ${HOST_LINK} type veth peer name cable0 netns ${path}
      addr add ${public4}/30 dev ${HOST_LINK}
      addr add ${private4}/30 dev ${HOST_LINK}
      addr add ${public6}/126 dev ${HOST_LINK} nodad
      link set ${HOST_LINK} up
      route add default via 203.0.113.1
      route add default via 2001:db8:77::1`);
    writeFileSync(FORWARDING_6, '1');
    ip(
      `link set lo up
      addr add 203.0.113.1/30 dev cable0
      addr add 192.168.77.1/30 dev cable0
      addr add 2001:db8:77::1/126 dev cable0 nodad
      link set cable0 up
      ${[RESOLVER, ...PUBLIC_ADDRESSES].map((address) => `addr add ${address} dev lo\n`).join('')}route add local default dev lo table main
      -6 route add local default dev lo table main
      route add 198.18.0.0/15 via 192.168.77.2`,
      path,
    );
    const script = join(import.meta.dirname, 'answer-everywhere.mjs');
    const responding = spawn(
      'nsenter',
      [`--net=${path}`, process.execPath, script, RESOLVER, ...PUBLIC_ADDRESSES],
      {
        stdio: ['ignore', 'pipe', 'inherit'],
      },
    );
    const end = new OutsideNetwork(namespace, responding);
    await once(responding.stdout as NodeJS.ReadableStream, 'data');
    return end;
  }

  /** What has arrived since the last call: `tcp 10.0.0.1 80`, `udp <text> 80`, `dns <name> <type>`. */
  takeContacts(): readonly string[] {
    return this.#contacts.splice(0);
  }

  /** Connects from outside of the host: `open`, or the code of the error. */
  connect(from: string, host: string, port: number): string {
    const script = `require('node:net').connect({ localAddress: '${from}', host: '${host}', port: ${port}, timeout: 2000 })
      .on('connect', () => { console.log('open'); process.exit(); })
      .on('timeout', () => { console.log('silent'); process.exit(); })
      .on('error', ({ code }) => console.log(code))`;
    const path = `/proc/${String(this.namespace.pid)}/ns/net`;
    return execFileSync('nsenter', [`--net=${path}`, process.execPath, '-e', script], {
      encoding: 'utf8',
    }).trim();
  }

  async close(): Promise<void> {
    const exited = [once(this.process, 'exit'), once(this.namespace, 'exit')];
    this.process.kill('SIGKILL');
    this.namespace.kill('SIGKILL');
    await Promise.all(exited);
    writeFileSync(FORWARDING_6, '0');
    // The kernel removes the cable with the namespace.
    await eventually(() => expect(readFileSync('/proc/self/net/dev', 'utf8')).not.toContain(HOST_LINK));
  }
}

const ip = (batch: string, namespace = '/proc/self/ns/net'): void => {
  for (const line of batch.split('\n'))
    execFileSync('nsenter', [`--net=${namespace}`, 'ip', ...line.trim().split(' ')], { stdio: 'pipe' });
};
