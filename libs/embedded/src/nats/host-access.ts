import { setTimeout as delay } from 'node:timers/promises';
import { newId } from '@berth/kernel';
import { acceptsUser, type BrokerAddress } from './broker-probe.js';
import { userOf, type HostUsers } from './host-users.js';

const EFFECTIVE_WITHIN_MS = 10_000;
const PROBE_EVERY_MS = 20;

/** What a host needs to join. The URL contains its password. */
export interface HostCredential {
  readonly id: string;
  readonly name: string;
  readonly natsUrl: string;
}

/** The running broker, whose users can change. */
export interface ReloadableBroker {
  readonly address: BrokerAddress;
  /** Writes the configuration with the present users, and makes the server read it. */
  reload(): void;
}

/** Gives hosts broker users of their own, and revokes them, while the broker runs. */
export class HostAccess {
  constructor(
    private readonly users: HostUsers,
    private readonly broker: ReloadableBroker,
  ) {}

  /** Returns once the broker accepts the credential. It cannot be read again. */
  async add(name: string): Promise<HostCredential> {
    const { id, password } = this.users.add(newId('hst'), name);
    await this.#until(true, id, password);
    const { host, port } = this.broker.address;
    return { id, name, natsUrl: `nats://${userOf(id)}:${password}@${host}:${String(port)}` };
  }

  /** Ends the host's connections, and returns once the broker refuses its credential; false if it has none. */
  async revoke(id: string): Promise<boolean> {
    const removed = this.users.remove(id);
    if (removed === undefined) return false;
    await this.#until(false, id, removed.password);
    return true;
  }

  async #until(accepted: boolean, id: string, password: string): Promise<void> {
    const end = Date.now() + EFFECTIVE_WITHIN_MS;
    this.broker.reload();
    while ((await acceptsUser(this.broker.address, userOf(id), password)) !== accepted) {
      if (Date.now() > end) throw new Error('The broker did not read its new configuration in time.');
      await delay(PROBE_EVERY_MS);
    }
  }
}
