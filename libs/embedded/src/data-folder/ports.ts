import { randomInt } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { isFree, PortUnavailableError, readJsonObject, writePrivateFile } from '@berth/host-requirements';

const PORTS_TRIED = 1000;
const LOWEST_PORT = 20_000;
const HIGHEST_PORT = 65_535;
const FEWEST_PORTS = 1000;
/** Linux's default ephemeral ports; other systems start higher. */
const USUAL_CLIENT_PORTS: PortRange = [32_768, 60_999];

type PortRange = readonly [first: number, last: number];

/**
 * Returns the range to choose a part's port from: outside the system's ephemeral ports. Otherwise, while the part is
 * down, the system could assign its port to any client on the machine, and the part could not restart until that client
 * has gone. Even a client that connects to the part could be assigned that port, and would then be connected to itself.
 */
export function portsOfServers(clients: PortRange = portsOfClients()): PortRange {
  const [first, last] = clients;
  if (first - LOWEST_PORT >= FEWEST_PORTS) return [LOWEST_PORT, first - 1];
  return HIGHEST_PORT - last >= FEWEST_PORTS ? [last + 1, HIGHEST_PORT] : [LOWEST_PORT, HIGHEST_PORT];
}

function isForServers(port: number): boolean {
  const [first, last] = portsOfServers();
  return port >= first && port <= last;
}

function portsOfClients(): PortRange {
  try {
    const [first, last] = readFileSync('/proc/sys/net/ipv4/ip_local_port_range', 'utf8').trim().split(/\s+/);
    return [Number(first), Number(last)];
  } catch {
    return USUAL_CLIENT_PORTS;
  }
}

/** Remembers the ports of a data folder's parts, so that their addresses survive restarts. */
export class StoredPorts {
  readonly #file: string;
  readonly #ports = new Map<string, number>();

  constructor(folder: string) {
    this.#file = join(folder, 'ports.json');
    for (const [name, port] of Object.entries(readJsonObject(this.#file) ?? {})) {
      if (Number.isInteger(port)) this.#ports.set(name, Number(port));
    }
  }

  /** Returns the previous port if it is still free, else a new one, which it remembers. */
  async portFor(name: string): Promise<number> {
    const earlier = this.#ports.get(name);
    if (earlier !== undefined && isForServers(earlier) && (await isFree(earlier))) return earlier;
    const chosen = await this.#chooseUnused();
    this.#ports.set(name, chosen);
    writePrivateFile(this.#file, JSON.stringify(Object.fromEntries(this.#ports)));
    return chosen;
  }

  async #chooseUnused(): Promise<number> {
    const taken = new Set(this.#ports.values());
    const [first, last] = portsOfServers();
    for (let attempt = 0; attempt < PORTS_TRIED; attempt += 1) {
      const port = randomInt(first, last + 1);
      if (!taken.has(port) && (await isFree(port))) return port;
    }
    throw new PortUnavailableError(`No port of ${PORTS_TRIED} tried between ${first} and ${last} is free.`);
  }
}
