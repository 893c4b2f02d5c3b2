import { execFileSync } from 'node:child_process';
import { randomBytes, randomInt } from 'node:crypto';

const PREFIX_BITS = 24;

const ip = (...args: readonly string[]): void => {
  try {
    execFileSync('ip', args, { stdio: ['ignore', 'pipe', 'pipe'] });
  } catch (error) {
    const why =
      error instanceof Error && 'code' in error && error.code === 'ENOENT'
        ? 'install it: apt-get install iproute2'
        : String((error as { readonly stderr?: Buffer }).stderr);
    throw new Error(`\`ip ${args.join(' ')}\` failed; ${why}`, { cause: error });
  }
};

/** A machine on the network: a network namespace with one link. */
export interface NetworkedHost {
  /** Path of the namespace, for nsenter. */
  readonly namespace: string;
  readonly address: string;
  /** Unplugs its cable: what is sent meanwhile gets lost, and no connection is told. */
  cutOff(): void;
  plugIn(): void;
}

/** A bridge of this machine with other machines on it. Needs root and iproute2. */
export class HostNetwork {
  readonly #id = randomBytes(3).toString('hex');
  readonly #subnet = `10.${String(randomInt(200, 250))}.${String(randomInt(1, 250))}`;
  readonly #namespaces: string[] = [];

  constructor() {
    ip('link', 'add', this.#bridge, 'type', 'bridge');
    ip('addr', 'add', `${this.address}/${String(PREFIX_BITS)}`, 'dev', this.#bridge);
    ip('link', 'set', this.#bridge, 'up');
  }

  /** The address of this machine on the network. */
  get address(): string {
    return `${this.#subnet}.1`;
  }

  addHost(): NetworkedHost {
    const number = this.#namespaces.length + 2;
    const name = `berth-${this.#id}-${String(number)}`;
    const address = `${this.#subnet}.${String(number)}`;
    const [outside, inside] = [`bo${this.#id}${String(number)}`, `bi${this.#id}${String(number)}`];
    ip('netns', 'add', name);
    this.#namespaces.push(name);
    ip('link', 'add', outside, 'type', 'veth', 'peer', 'name', inside, 'netns', name);
    ip('link', 'set', outside, 'master', this.#bridge, 'up');
    ip('-n', name, 'addr', 'add', `${address}/${String(PREFIX_BITS)}`, 'dev', inside);
    for (const link of [inside, 'lo']) ip('-n', name, 'link', 'set', link, 'up');
    return {
      namespace: `/run/netns/${name}`,
      address,
      cutOff: () => ip('link', 'set', outside, 'down'),
      plugIn: () => ip('link', 'set', outside, 'up'),
    };
  }

  /** Removes the namespaces with their links, and the bridge. Their processes must have ended. */
  remove(): void {
    for (const name of this.#namespaces.splice(0)) ip('netns', 'delete', name);
    ip('link', 'delete', this.#bridge);
  }

  get #bridge(): string {
    return `bh${this.#id}`;
  }
}
