import { ServiceContext } from '@berth/service';
import { Logger } from '@berth/telemetry';
import { Injectable } from '@nestjs/common';
import { RefusalReports } from '../audit/refusal-reports.js';
import type { HttpServer } from './fastify-types.js';
import { addObservationHooks } from './observe-requests.js';
import { addFixedHeadersHook } from './request-hooks.js';

/** The hooks that every response passes: its fixed headers, its log line, its metric, and the report of a 403. */
@Injectable()
export class ResponseHooks {
  constructor(
    private readonly context: ServiceContext,
    private readonly log: Logger,
    private readonly refusals: RefusalReports,
  ) {}

  addTo(server: HttpServer): void {
    addFixedHeadersHook(server, this.context.stopping);
    addObservationHooks(server, this.log);
    this.refusals.addTo(server);
  }
}
