import { operationsRequests, type ProjectionView, type RebuildProjection } from '@berth/contracts-operations';
import { HandleRequest } from '@berth/messaging';
import { Controller, Inject, type Type } from '@nestjs/common';
import { Payload } from '@nestjs/microservices';
import { Projections } from './projections.js';

/** The controller that answers `operationsRequests(context)`; the module provides `Projections`. */
export const projectionsController = (context: string): Type => {
  const requests = operationsRequests(context);

  @Controller()
  class ProjectionsNatsController {
    constructor(@Inject(Projections) private readonly projections: Projections) {}

    @HandleRequest(requests.listProjections, { broadcast: true })
    async list(): Promise<{ readonly items: readonly ProjectionView[] }> {
      return { items: await this.projections.list() };
    }

    @HandleRequest(requests.rebuildProjection)
    rebuild(@Payload() { name }: RebuildProjection): Promise<ProjectionView> {
      return this.projections.rebuild(name);
    }
  }

  return ProjectionsNatsController;
};
