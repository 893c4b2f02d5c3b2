import { Injectable } from '@nestjs/common';
import { AppProxyHook } from '../app-proxy/app-proxy.hook.js';
import { ViewerHook } from '../computers/viewer/viewer.hook.js';
import { LlmRouteHook } from '../llm/llm-route.hook.js';
import { CrossOriginHook } from './cross-origin.hook.js';
import type { HttpServer } from './fastify-types.js';
import { addUnknownRouteHook } from './request-hooks.js';
import { RouteTable } from './route-table.js';

/**
 * Decides where a request goes: to a viewer of a computer, to an agent's app, to the service `llm`, or to a route; unknown ones are refused. Also
 * decides whether a page of another origin may read the response.
 */
@Injectable()
export class RoutingHooks {
  constructor(
    private readonly viewers: ViewerHook,
    private readonly apps: AppProxyHook,
    private readonly llm: LlmRouteHook,
    private readonly crossOrigin: CrossOriginHook,
    private readonly routes: RouteTable,
  ) {}

  /** Must run before all other hooks, which treat requests to other origins differently. */
  addRecognition(server: HttpServer): void {
    this.apps.addRecognition(server);
    this.viewers.addRecognition(server);
  }

  addTo(server: HttpServer): void {
    this.viewers.addTo(server);
    this.apps.addTo(server);
    this.llm.addTo(server);
    this.crossOrigin.addTo(server);
    addUnknownRouteHook(server, this.routes);
  }
}
