import { readFileSync } from 'node:fs';
import { brokerOf, Requester } from '@berth/messaging';
import { SecretBox, type Database } from '@berth/persistence';
import { openLink, openTables } from '@berth/service';
import type { Logger } from '@berth/telemetry';
import { NestFactory } from '@nestjs/core';
import { FastifyAdapter, type NestFastifyApplication } from '@nestjs/platform-fastify';
import { AppModule, type AppDependencies } from './app.module.js';
import { addAuthenticationHook } from './auth/authenticate.hook.js';
import { Authenticators, KeyAuthenticator } from './auth/authenticators.js';
import type { GatewayConfig } from './config.js';
import { Drain } from './http/drain.js';
import { addContinueHook } from './http/expectations.js';
import { ErrorFilter } from './http/error.filter.js';
import { addDeclarationCheck } from './http/declaration-check.js';
import { prepareRequests, serverOptions } from './http/fastify-server.js';
import type { HttpServer } from './http/fastify-types.js';
import { nestLog } from './http/nest-log.js';
import { addBodyDeadlines } from './http/late-bodies.js';
import { addObservationHooks } from './http/observe-requests.js';
import {
  addContextHook,
  addFixedHeadersHook,
  addRequestLineHook,
  addUnknownRouteHook,
} from './http/request-hooks.js';
import { addIdempotencyHooks } from './idempotency/idempotency.hooks.js';
import { IdempotentAnswers } from './idempotency/idempotent-answers.js';
import { migrations, VAULT_SCHEMA } from './idempotency/migrations.js';
import { listenOn } from './http/listen.js';
import { RouteTable, type DeclaredRoute } from './http/route-table.js';
import { OpenApiDocument } from './openapi/openapi-document.js';
import { addValidationHook } from './validation/validate.hook.js';

/** Requests in flight get so long to end when the gateway stops. */
const DRAIN_MS = 5_000;

export interface RunningGateway {
  readonly name: string;
  /** `http://localhost:<port>` */
  readonly url: string;
  /** Every route of the router, `HEAD` left out. */
  readonly routes: readonly DeclaredRoute[];
  /** Takes no more connections, ends streams, lets requests in flight end (at most 5 s). */
  stop(): Promise<void>;
}

/** Opens the door: resolves when requests are answered. What was opened is closed again when that fails. */
export const startGateway = async (config: GatewayConfig, log: Logger): Promise<RunningGateway> => {
  await using opened = new AsyncDisposableStack();
  const link = await openLink({ ...brokerOf(config), name: 'gateway', log });
  opened.defer(() => link.close());
  const database = await openVault(config, log);
  opened.defer(() => database.close());
  const answers = new IdempotentAnswers(database, new SecretBox(config.keyring), (error) =>
    log.warn({ err: error }, 'kept answers could not be looked after'),
  );
  opened.defer(() => answers.stop());
  const drain = new Drain();
  const facts = { version: versionOf(), driver: config.runtime };
  const requester = new Requester(link);
  const authenticators = new Authenticators([new KeyAuthenticator(requester)]);
  const routes = new RouteTable();
  const app = await createApp(
    { link, database, routes, requester, authenticators, answers, drain, facts, log },
    config,
    log,
  );
  opened.defer(() => closeWithin(app, DRAIN_MS));
  opened.defer(() => drain.begin());
  const url = await listenOn(app, config);
  answers.start();
  const running = opened.move();
  let stopping: Promise<void> | undefined;
  return { name: 'gateway', url, routes: routes.all(), stop: () => (stopping ??= running.disposeAsync()) };
};

const openVault = (config: GatewayConfig, log: Logger): Promise<Database> =>
  openTables({
    url: config.databaseUrl,
    schema: VAULT_SCHEMA,
    migrations,
    applicationName: 'berth-gateway',
    log,
  });

const createApp = async (
  dependencies: AppDependencies,
  config: GatewayConfig,
  log: Logger,
): Promise<NestFastifyApplication> => {
  const { routes, requester, authenticators, answers, drain, facts } = dependencies;
  const adapter = new FastifyAdapter({ ...serverOptions(config), skipMiddie: true });
  const server: HttpServer = adapter.getInstance();
  prepareRequests(server);
  addContextHook(server, { tracing: config.otlpEndpoint !== undefined });
  addUnknownRouteHook(server, routes);
  addDeclarationCheck(server);
  addAuthenticationHook(server, authenticators);
  addRequestLineHook(server);
  addContinueHook(server);
  addBodyDeadlines(server, { bodyMs: config.clientTimeoutMs });
  addValidationHook(server);
  addIdempotencyHooks(server, answers, log);
  addFixedHeadersHook(server, drain.signal);
  addObservationHooks(server, log);
  const app = await NestFactory.create<NestFastifyApplication>(AppModule.forRoot(dependencies), adapter, {
    bodyParser: false,
    abortOnError: false,
    logger: nestLog(log),
  });
  app.useGlobalFilters(new ErrorFilter(requester, log));
  await app.init();
  app.get(OpenApiDocument).build(app, facts.version);
  return app;
};

/** A chat may wait for 600 s; what is not over in time is cut, and its outcome stays open to the caller. */
const closeWithin = async (app: NestFastifyApplication, millis: number): Promise<void> => {
  const cut = setTimeout(() => app.getHttpServer().closeAllConnections(), millis);
  try {
    await app.close();
  } finally {
    clearTimeout(cut);
  }
};

const versionOf = (): string => {
  const manifest: unknown = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'));
  return typeof manifest === 'object' && manifest !== null && 'version' in manifest
    ? String(manifest.version)
    : '0.0.0';
};
