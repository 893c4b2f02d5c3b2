import { setTimeout as delay } from 'node:timers/promises';
import { newId } from '@berth/kernel';
import { acceptsUser, type BrokerAddress } from './broker-probe.js';
import type { DataAuthority, DataCertificate } from './data-authority.js';
import { userOf, type HostUsers } from './host-users.js';

/** How long a broker may take to read its users again. */
const EFFECTIVE_WITHIN_MS = 10_000;
const PROBE_EVERY_MS = 20;

/** The data with which a host joins. The URL contains its password; `data` has the key of its data port. */
export interface HostCredential {
  readonly id: string;
  readonly name: string;
  readonly natsUrl: string;
  readonly data: DataCertificate;
}

/** The running broker, whose users can change. */
export interface ReloadableBroker {
  /** The broker's address for this process. */
  readonly address: BrokerAddress;
  /** The broker's address for hosts, if it is different. */
  readonly reachedAt?: BrokerAddress;
  /** Writes the configuration with the present users, and makes the server read it. */
  reload(): void;
}

/** Gives hosts broker users and certificates of their own, and revokes the users, while the broker runs. */
export class HostAccess {
  constructor(
    private readonly users: HostUsers,
    private readonly authority: DataAuthority,
    private readonly broker: ReloadableBroker,
    private readonly withinMs = EFFECTIVE_WITHIN_MS,
  ) {}

  /** Returns once the broker accepts the credential. It cannot be read again. */
  async add(name: string): Promise<HostCredential> {
    const hostId = newId('hst');
    const data = await this.authority.issue(hostId);
    const { id, password } = this.users.add(hostId, name);
    try {
      await this.#until(true, id, password);
    } catch (error) {
      // The password was never shown.
      this.users.remove(id);
      this.broker.reload();
      throw error;
    }
    const { host, port } = this.broker.reachedAt ?? this.broker.address;
    return { id, name, natsUrl: `nats://${userOf(id)}:${password}@${host}:${String(port)}`, data };
  }

  /** Ends the host's connections, and returns once the broker refuses its credential; false if it has none. */
  async revoke(id: string): Promise<boolean> {
    const removed = this.users.remove(id);
    if (removed === undefined) return false;
    await this.#until(false, id, removed.password);
    return true;
  }

  async #until(accepted: boolean, id: string, password: string): Promise<void> {
    const end = Date.now() + this.withinMs;
    this.broker.reload();
    while ((await acceptsUser(this.broker.address, userOf(id), password)) !== accepted) {
      if (Date.now() > end)
        throw new Error('The broker did not read its new list of users in time, or cannot be reached.');
      await delay(PROBE_EVERY_MS);
    }
  }
}
