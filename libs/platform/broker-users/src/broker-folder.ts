import { join } from 'node:path';
import { writePrivateFile } from '@berth/host-requirements';
import { userBlocks } from './broker-permissions.js';
import type { BrokerAddress } from './broker-probe.js';
import { HostAccess } from './host-access.js';
import { HostUsers } from './host-users.js';

/** The users of hosts as elements of `users` in a nats-server configuration, in the broker's folder. */
export const HOST_USERS_FILE = 'hosts.conf';

/**
 * Gives hosts users on a broker that another program runs: writes them to `hosts.conf` in the folder, in the syntax of
 * nats-server. The program that runs the broker makes it read the file again; `infra/compose/nats-start.sh` does.
 *
 * @param broker.folder where the users are kept, with their passwords
 * @param broker.address where this process reaches the broker
 * @param broker.reachedAt where hosts reach it
 * @param broker.withinMs how long the broker may take to read it (10 s)
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
  return new HostAccess(users, reloadable, broker.withinMs);
};
