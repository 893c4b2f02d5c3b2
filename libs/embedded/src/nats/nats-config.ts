import { authorizationBlock, type BrokerUser } from './broker-permissions.js';

/** What decides a nats-server's configuration. */
export interface NatsConfigInput {
  readonly port: number;
  readonly storeDir: string;
  readonly serverName: string;
  readonly users: readonly BrokerUser[];
  readonly version: readonly [number, number, number];
}

/** 8 MiB: beyond what any message of ours carries, and the largest the server takes without a warning. */
const MAX_PAYLOAD_BYTES = 8 * 1024 * 1024;

/** The text of a nats-server configuration file: loopback only, JetStream on disk. */
export function natsConfig(input: NatsConfigInput): string {
  const [major, minor] = input.version;
  // By default the server tells a publisher "stored" up to two minutes before it is on disk; older ones cannot do else.
  const syncsBeforeAck = major > 2 || (major === 2 && minor >= 10);
  return [
    'host: "127.0.0.1"',
    `port: ${input.port}`,
    `server_name: ${JSON.stringify(input.serverName)}`,
    `max_payload: ${MAX_PAYLOAD_BYTES}`,
    'jetstream {',
    `  store_dir: ${JSON.stringify(input.storeDir)}`,
    ...(syncsBeforeAck ? ['  sync_interval: always'] : []),
    '}',
    authorizationBlock(input.users),
    '',
  ].join('\n');
}
