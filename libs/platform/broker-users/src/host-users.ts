import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { readKeptObject, writePrivateFile } from '@berth/host-requirements';
import { permissionsOf, type BrokerUser } from './broker-permissions.js';
import { SERVICE_ACCESS } from './service-access.js';

/** A runtime host with a broker user of its own. */
export interface HostUser {
  readonly id: string;
  readonly name: string;
  readonly password: string;
}

/** The broker's users of added hosts, kept in a file of mode 0600. */
export class HostUsers {
  readonly #file: string;

  constructor(
    folder: string,
    private readonly instance: string,
  ) {
    this.#file = join(folder, 'hosts.json');
  }

  /** Throws `DataFolderUnusableError` if the file is damaged. */
  get all(): readonly HostUser[] {
    const kept = readKeptObject(this.#file)?.['hosts'];
    return Array.isArray(kept) ? kept.filter(isHostUser) : [];
  }

  add(id: string, name: string): HostUser {
    // A letter first, because a NATS configuration parses a bare word of digits with a unit letter as a number.
    const added = { id, name, password: `p${randomBytes(24).toString('hex')}` };
    this.#write([...this.all, added]);
    return added;
  }

  /** Returns the user that it removed; undefined if there is none. */
  remove(id: string): HostUser | undefined {
    const found = this.all.find((host) => host.id === id);
    if (found !== undefined) this.#write(this.all.filter((host) => host.id !== id));
    return found;
  }

  /** The users as the broker's configuration has them: each may use the subjects of its own host only. */
  get asBrokerUsers(): readonly BrokerUser[] {
    return this.all.map(({ id, password }) => ({
      user: userOf(id),
      password,
      permissions: permissionsOf('runtime', SERVICE_ACCESS.runtime, { instance: this.instance, hosts: [id] }),
    }));
  }

  #write(hosts: readonly HostUser[]): void {
    writePrivateFile(this.#file, JSON.stringify({ hosts }));
  }
}

/** The name of a host's user. */
export const userOf = (hostId: string): string => `runtime-${hostId}`;

const isHostUser = (value: unknown): value is HostUser =>
  typeof value === 'object' &&
  value !== null &&
  ['id', 'name', 'password'].every(
    (member) => typeof (value as Record<string, unknown>)[member] === 'string',
  );
