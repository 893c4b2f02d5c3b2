import { resolve } from 'node:path';
import { addressOf, readEnv, type Env, type EnvReader } from '@berth/config';
import { RECOVERY_SOCKET } from '@berth/contracts/accounts';
import { HOST_ACCESS_SOCKET } from '@berth/contracts/operations';

/** The URL of the service and the key to use. */
export interface CliConfig {
  /** Base address without a trailing slash. */
  readonly url: string;
  readonly apiKey: string | undefined;
  /** Read when `apiKey` is not set. */
  readonly keyFile: string;
  /** The Unix socket of a Berth that runs on this host. */
  readonly recoverySocket: string;
  /** The Unix socket of a Berth with an embedded broker that runs on this host. */
  readonly hostsSocket: string;
  /** The broker of an installation that does not embed it; undefined: it is embedded. */
  readonly broker: BrokerConfig | undefined;
  /** The URL of the API for hosts. */
  readonly apiForHosts: ApiForHosts;
}

/** `url` if it is set, otherwise `port` of the machine on which hosts reach the broker. */
export type ApiForHosts = { readonly url: string } | { readonly port: string };

/** A broker whose users `berth hosts` keeps in a folder. */
export interface BrokerConfig {
  readonly folder: string;
  readonly instance: string;
  /** The broker's address for this command. */
  readonly address: HostAndPort;
  /** The broker's address for hosts. */
  readonly reachedAt: HostAndPort;
}

interface HostAndPort {
  readonly host: string;
  readonly port: number;
}

const NATS_PORT = 4222;

/**
 * Reads `BERTH_URL`, `PORT`, `BERTH_API_KEY`, `BERTH_DATA`, `BERTH_GATEWAY_URL`, `BERTH_BROKER_FOLDER`, and with the last
 * one `BERTH_BROKER_ADDRESS` (by default that of NATS_URL), `NATS_URL` and `BERTH_INSTANCE` (berth). Throws `ConfigError`.
 */
export const readCliConfig = (env: Env): CliConfig => {
  const reader = readEnv(env);
  const port = reader.integer('PORT', { min: 1, max: 65_535, default: 8080 });
  const data = reader.path('BERTH_DATA', './.data');
  const url = reader.url('BERTH_URL', `http://localhost:${port}`, ['http', 'https']).replace(/\/+$/, '');
  const urlForHosts = reader.optionalUrl('BERTH_GATEWAY_URL', ['http', 'https'])?.replace(/\/+$/, '');
  return reader.done({
    url,
    apiKey: reader.optional('BERTH_API_KEY')?.trim(),
    keyFile: resolve(data, 'bootstrap-key'),
    recoverySocket: resolve(data, RECOVERY_SOCKET),
    hostsSocket: resolve(data, HOST_ACCESS_SOCKET),
    broker: readBroker(reader),
    apiForHosts: urlForHosts === undefined ? apiForHosts(url) : { url: urlForHosts },
  });
};

const THIS_MACHINE: ReadonlySet<string> = new Set(['localhost', '127.0.0.1', '[::1]']);

/** Other machines reach a URL of this machine at the address at which they reach its broker. */
const apiForHosts = (url: string): ApiForHosts => {
  const parsed = URL.parse(url);
  if (parsed === null || !THIS_MACHINE.has(parsed.hostname)) return { url };
  return { port: parsed.port === '' ? '80' : parsed.port };
};

const readBroker = (reader: EnvReader): BrokerConfig | undefined => {
  const folder = reader.optional('BERTH_BROKER_FOLDER');
  if (folder === undefined) return undefined;
  const { natsUrl, instance } = reader.brokerEnv();
  const [first = ''] = addressOf(natsUrl).split(', ');
  const reachedAt = reader.string('BERTH_BROKER_ADDRESS', first);
  const parsed = hostAndPort(reachedAt);
  if (parsed === undefined)
    reader.problem(
      'BERTH_BROKER_ADDRESS',
      'must be the address of the broker for hosts, such as 10.0.0.1:4222',
    );
  const address = hostAndPort(first) ?? { host: first, port: NATS_PORT };
  return { folder: resolve(folder), instance, address, reachedAt: parsed ?? address };
};

const hostAndPort = (text: string): HostAndPort | undefined => {
  const match = /^([^\s:/@]+)(?::(\d{1,5}))?$/.exec(text);
  return match?.[1] === undefined ? undefined : { host: match[1], port: Number(match[2] ?? NATS_PORT) };
};
