import { hostAccessIn, type HostAccess } from '@berth/broker-users';
import { HOST_NAME, type AddedHost } from '@berth/contracts/operations';
import { CliError, EXIT } from './cli-error.js';
import type { JoiningHost } from './commands/hosts.command.js';
import type { ApiForHosts, BrokerConfig, CliConfig } from './config.js';
import { callLocally } from './local-socket.js';

/** Adds a broker user for a host: to the broker whose folder this machine has, or to the Berth that runs here. */
export const addHost = async (config: CliConfig, name: string): Promise<JoiningHost> => {
  const added = await addUser(config, name);
  return { ...added, gatewayUrl: gatewayUrlOf(config.apiForHosts, added) };
};

const addUser = async ({ hostsSocket, broker }: CliConfig, name: string): Promise<AddedHost> => {
  if (broker !== undefined) {
    if (!HOST_NAME.test(name))
      throw new CliError(EXIT.usage, 'A name has 1 to 64 letters, digits and . _ -.');
    return atBroker(broker, (access) => access.add(name));
  }
  const { status, body } = await callLocally(hostsSocket, { method: 'POST', path: '/hosts', body: { name } });
  if (status === 201) return JSON.parse(body) as AddedHost;
  throw refused(status, body);
};

const gatewayUrlOf = (api: ApiForHosts, { natsUrl }: AddedHost): string =>
  'url' in api ? api.url : `http://${new URL(natsUrl).hostname}:${api.port}`;

/** Returns whether there was a credential to revoke. */
export const revokeHost = async ({ hostsSocket, broker }: CliConfig, id: string): Promise<boolean> => {
  if (broker !== undefined) return atBroker(broker, (access) => access.revoke(id));
  const path = `/hosts/${encodeURIComponent(id)}`;
  const { status, body } = await callLocally(hostsSocket, { method: 'DELETE', path });
  if (status === 204) return true;
  if (status === 404) return false;
  throw refused(status, body);
};

const atBroker = async <Result>(
  broker: BrokerConfig,
  change: (access: HostAccess) => Promise<Result>,
): Promise<Result> => {
  try {
    return await change(hostAccessIn(broker));
  } catch (error) {
    throw new CliError(EXIT.unavailable, error instanceof Error ? error.message : String(error));
  }
};

const refused = (status: number, body: string): CliError =>
  new CliError(EXIT.refused, `Berth refused (${status}): ${body}`);
