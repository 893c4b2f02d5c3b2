import { join } from 'node:path';
import { writePrivateFile } from '@berth/host-requirements';
import { userBlocks } from './broker-permissions.js';
import type { BrokerAddress } from './broker-probe.js';
import { DataAuthority } from './data-authority.js';
import { HostAccess } from './host-access.js';
import { HostUsers } from './host-users.js';

/** The file in the broker's folder that lists the users of hosts: elements of `users` in a nats-server configuration. */
export const HOST_USERS_FILE = 'hosts.conf';

/**
 * Manages the users of hosts on a broker that another program runs. Every change is written to `hosts.conf` in the
 * broker's folder; that program must reload the broker when the file changes, as `infra/compose/nats-start.sh` does.
 *
 * @param broker.folder where the users and their passwords are stored
 * @param broker.instance the name of the installation (`BERTH_INSTANCE`), part of every subject
 * @param broker.address where this process reaches the broker
 * @param broker.reachedAt where hosts reach the broker
 * @param broker.withinMs how long the broker may take to apply a change (default 10 s)
 */
export const hostAccessIn = (broker: {
  readonly folder: string;
  readonly instance: string;
  readonly address: BrokerAddress;
  readonly reachedAt: BrokerAddress;
  readonly withinMs?: number;
}): HostAccess => {
  const users = new HostUsers(broker.folder, broker.instance);
  const reloadable = {
    address: broker.address,
    reachedAt: broker.reachedAt,
    reload: () =>
      writePrivateFile(join(broker.folder, HOST_USERS_FILE), `${userBlocks(users.asBrokerUsers)}\n`),
  };
  return new HostAccess(users, new DataAuthority(broker.folder), reloadable, broker.withinMs);
};
