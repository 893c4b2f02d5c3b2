import { Module, type NestModule } from '@nestjs/common';
import { APP_FILTER, HttpAdapterHost } from '@nestjs/core';
import { AppProxyModule } from '../app-proxy/app-proxy.module.js';
import { RefusalReports } from '../audit/refusal-reports.js';
import { AuthenticationHook } from '../auth/authenticate.hook.js';
import { AuthModule } from '../auth/auth.module.js';
import { ViewerModule } from '../computers/viewer/viewer.module.js';
import { IdempotencyModule } from '../idempotency/idempotency.module.js';
import { LlmRouteModule } from '../llm/llm-route.module.js';
import { ValidationHook } from '../validation/validate.hook.js';
import { CrossOriginHook } from './cross-origin.hook.js';
import { ConnectionDrain } from './connection-drain.js';
import { ErrorFilter } from './error.filter.js';
import type { HttpServer } from './fastify-types.js';
import { RequestPipeline } from './request-pipeline.js';
import { ResponseHooks } from './response.hooks.js';
import { RouteTable } from './route-table.js';
import { RoutingHooks } from './routing.hooks.js';

/** The pipeline of requests before a controller, and of responses after it. */
@Module({
  imports: [AuthModule, IdempotencyModule, ViewerModule, AppProxyModule, LlmRouteModule],
  providers: [
    RouteTable,
    CrossOriginHook,
    RoutingHooks,
    AuthenticationHook,
    ValidationHook,
    ResponseHooks,
    RefusalReports,
    RequestPipeline,
    ConnectionDrain,
    { provide: APP_FILTER, useClass: ErrorFilter },
  ],
})
export class HttpModule implements NestModule {
  constructor(
    private readonly pipeline: RequestPipeline,
    private readonly adapterHost: HttpAdapterHost,
  ) {}

  /** Nest calls this before it registers the routes, which some of the hooks must see. */
  configure(): void {
    this.pipeline.install(this.adapterHost.httpAdapter.getInstance<HttpServer>());
  }
}
