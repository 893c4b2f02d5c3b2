import type { AddedHost } from '@berth/contracts/operations';
import { CliError, EXIT } from './cli-error.js';
import type { CliConfig } from './config.js';
import { callLocally } from './local-socket.js';

/** Adds a broker user for a host to the Berth that runs on this machine. */
export const addHost = async ({ hostsSocket }: CliConfig, name: string): Promise<AddedHost> => {
  const { status, body } = await callLocally(hostsSocket, { method: 'POST', path: '/hosts', body: { name } });
  if (status === 201) return JSON.parse(body) as AddedHost;
  throw refused(status, body);
};

/** Returns whether there was a credential to revoke. */
export const revokeHost = async ({ hostsSocket }: CliConfig, id: string): Promise<boolean> => {
  const path = `/hosts/${encodeURIComponent(id)}`;
  const { status, body } = await callLocally(hostsSocket, { method: 'DELETE', path });
  if (status === 204) return true;
  if (status === 404) return false;
  throw refused(status, body);
};

const refused = (status: number, body: string): CliError =>
  new CliError(EXIT.refused, `Berth refused (${status}): ${body}`);
