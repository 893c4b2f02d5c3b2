import { authorizationBlock, type BrokerUser } from '@berth/broker-users';

/** The inputs of a nats-server's configuration. */
export interface NatsConfigInput {
  /** The address to listen on. */
  readonly host: string;
  readonly port: number;
  readonly storeDir: string;
  /** The most that JetStream stores. */
  readonly storeBytes: number;
  readonly serverName: string;
  readonly users: readonly BrokerUser[];
  readonly version: readonly [number, number, number];
}

/** 8 MiB: more than any message of ours, and the largest value the server accepts without a warning. */
const MAX_PAYLOAD_BYTES = 8 * 1024 * 1024;

/** Returns the text of a nats-server configuration file: JetStream on disk. */
export function natsConfig(input: NatsConfigInput): string {
  const [major, minor] = input.version;
  // By default the server acknowledges a publish up to two minutes before it is on disk; older servers always do.
  const syncsBeforeAck = major > 2 || (major === 2 && minor >= 10);
  return [
    `host: ${JSON.stringify(input.host)}`,
    `port: ${input.port}`,
    `server_name: ${JSON.stringify(input.serverName)}`,
    `max_payload: ${MAX_PAYLOAD_BYTES}`,
    'jetstream {',
    `  store_dir: ${JSON.stringify(input.storeDir)}`,
    // By default a share of what is free when the server starts: on a full disk it would recover no stream.
    `  max_file_store: ${input.storeBytes}`,
    ...(syncsBeforeAck ? ['  sync_interval: always'] : []),
    '}',
    authorizationBlock(input.users),
    '',
  ].join('\n');
}
