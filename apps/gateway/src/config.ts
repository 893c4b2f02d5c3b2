import type { BlockList } from 'node:net';
import { readEnv, ServiceEnv, type Env, type RuntimeDriver } from '@berth/config';
import { CONNECTIONS, shareOfDescriptors } from '@berth/sockets';
import { readKeyring, type Keyring } from '@berth/persistence';
import { readAllowedOrigins } from './allowed-origins.js';
import { readPublicAddresses, readTrustedProxies } from './public-addresses.js';

/** The configuration of the gateway; providers inject it by this class. */
export abstract class GatewayConfig extends ServiceEnv {
  abstract readonly host: string;
  /** 0 picks a free port. */
  abstract readonly port: number;
  /** See `ClientBounds`. */
  abstract readonly clientTimeoutMs: number;
  abstract readonly maxConnections: number;
  /** The driver that `/health` reports while no host responds. */
  abstract readonly runtime: RuntimeDriver;
  /** The address that callers use, without a path; undefined: this machine's, with the port of the gateway. */
  abstract readonly publicUrl: string | undefined;
  /** The host, with a port if it is not the scheme's, below which each agent's app has its own; undefined: the default. */
  abstract readonly appsHost: string | undefined;
  /** The port of viewers of computers without an apps host; 0 picks a free port. */
  abstract readonly viewerPort: number;
  /** The origins whose pages may call the routes for end users; `*`: all. */
  abstract readonly allowedOrigins: readonly string[];
  /** The proxies in front of the gateway, whose `X-Forwarded-For` is believed. */
  abstract readonly trustedProxies: BlockList;
  /** The operator's keys that seal stored responses. */
  abstract readonly keyring: Keyring;
  /** Whether webhooks refuse calls without a token. */
  abstract readonly requireWebhookTokens: boolean;
  /** The folder whose disk `/health` reports, if there is one. */
  abstract readonly dataDir: string;
  /** The file of the authority that `https` data ports are verified against; undefined: they are refused. */
  abstract readonly dataCa: string | undefined;
}

const ONLY_THIS_MACHINE = '127.0.0.1';
const ALL_INTERFACES = '0.0.0.0';

/**
 * PORT (8080), BERTH_HOST, BERTH_CLIENT_TIMEOUT_SECONDS (60), BERTH_MAX_CONNECTIONS, BERTH_RUNTIME (process),
 * BERTH_ALLOW_UNISOLATED, BERTH_PUBLIC_URL, BERTH_APPS_HOST, BERTH_VIEWER_PORT (0), BERTH_ALLOWED_ORIGINS, BERTH_TRUSTED_PROXIES, BERTH_REQUIRE_WEBHOOK_TOKENS, BERTH_DATA_CA, BERTH_DATA (.data), BERTH_SECRET_KEY (`id:base64 of 32 bytes`, newest first) and the variables that every service
 * reads. Under the process driver agents share the machine, so the gateway listens on this machine only, unless
 * configured otherwise. Throws `ConfigError` naming every bad variable.
 */
export const readGatewayConfig = (env: Env): GatewayConfig => {
  const reader = readEnv(env);
  const runtime = reader.runtimeDriver();
  const isolated = runtime === 'nerdctl' || reader.boolean('BERTH_ALLOW_UNISOLATED', false);
  return reader.done({
    ...reader.serviceEnv(),
    host: reader.string('BERTH_HOST', isolated ? ALL_INTERFACES : ONLY_THIS_MACHINE),
    port: reader.integer('PORT', { default: 8080, max: 65_535 }),
    clientTimeoutMs:
      reader.integer('BERTH_CLIENT_TIMEOUT_SECONDS', { default: 60, min: 1, max: 3_600 }) * 1_000,
    maxConnections:
      reader.optionalInteger('BERTH_MAX_CONNECTIONS', { min: 1 }) ?? shareOfDescriptors(CONNECTIONS.gateway),
    runtime,
    ...readPublicAddresses(reader),
    viewerPort: reader.integer('BERTH_VIEWER_PORT', { default: 0, max: 65_535 }),
    allowedOrigins: readAllowedOrigins(reader),
    trustedProxies: readTrustedProxies(reader),
    keyring: readKeyring(reader.string('BERTH_SECRET_KEY'), (what) =>
      reader.problem('BERTH_SECRET_KEY', what),
    ),
    requireWebhookTokens: reader.boolean('BERTH_REQUIRE_WEBHOOK_TOKENS', false),
    dataDir: reader.path('BERTH_DATA', '.data'),
    dataCa: reader.optional('BERTH_DATA_CA'),
  });
};
