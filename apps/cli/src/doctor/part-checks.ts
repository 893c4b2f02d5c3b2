import { connect } from 'node:net';
import { addressOf, type PartUrlName } from '@berth/config';
import type { DoctorSettings } from './doctor-settings.js';
import { failed, ok, warning, type DoctorCheck } from './doctor-check.js';

const CONNECTED_WITHIN_MS = 3_000;
const PORTS: Readonly<Record<PartUrlName, number>> = {
  NATS_URL: 4222,
  EVENTSTORE_URL: 2113,
  DATABASE_URL: 5432,
};

/** Whether the parts that run elsewhere accept connections. */
export const partChecks = ({ parts }: DoctorSettings): Promise<readonly DoctorCheck[]> =>
  Promise.all(
    parts.map(async ({ variable, url }) => {
      const addresses = addressOf(url)
        .split(', ')
        .map((address) => endpointOf(address, PORTS[variable]));
      const problems = await Promise.all(addresses.map(connectionProblem));
      const unreachable = addresses.flatMap((address, at) => {
        const problem = problems[at];
        return problem === undefined ? [] : [`${address.host}:${address.port} (${problem})`];
      });
      const shown = unreachable.join(', ');
      if (unreachable.length === 0) return ok(variable, `${addressOf(url)} accepts connections`);
      return unreachable.length < addresses.length
        ? warning(variable, `${shown} cannot be reached; other addresses can: start it.`)
        : failed(variable, `${shown} cannot be reached: start it, or correct ${variable}.`);
    }),
  );

interface Endpoint {
  readonly host: string;
  readonly port: number;
}

const endpointOf = (address: string, defaultPort: number): Endpoint => {
  const [, host = '', port] = /^(.*?)(?::(\d+))?$/.exec(address) ?? [];
  return { host: host.replace(/^\[(.*)\]$/, '$1'), port: port === undefined ? defaultPort : Number(port) };
};

const connectionProblem = ({ host, port }: Endpoint): Promise<string | undefined> =>
  new Promise((resolve) => {
    const socket = connect({ host, port });
    const end = (problem?: string): void => {
      socket.destroy();
      resolve(problem);
    };
    socket.setTimeout(CONNECTED_WITHIN_MS, () => end('no response'));
    socket.once('connect', () => end());
    socket.once('error', (error: NodeJS.ErrnoException) => end(error.code ?? error.message));
  });
