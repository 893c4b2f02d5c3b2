import {
  mergeProjections,
  operationsRequests,
  SERVICES_WITH_TABLES,
  type ProjectionView,
} from '@berth/contracts/operations';
import { isDomainError } from '@berth/kernel';
import { Requester } from '@berth/messaging';
import { Controller, Get, Param, Post } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { Route } from '../http/route.decorator.js';
import { projectionOf } from './operations.resources.js';

/** Services that build tables from the event log. */
const SERVICES = SERVICES_WITH_TABLES.map(operationsRequests);

/** Every instance responds separately; slower ones are left out. */
const GATHER_MS = 750;

@ApiTags('Operations')
@Controller('api/v1/operations/projections')
export class OperationsController {
  constructor(private readonly requester: Requester) {}

  @Route({
    accepts: { key: 'operate' },
    summary: 'List the projections, the tables that are built from the event log',
    responses: [
      { status: 200, description: 'All projections with their positions.', schema: 'ProjectionList' },
    ],
  })
  @Get()
  async list(): Promise<{ readonly items: readonly ProjectionView[] }> {
    const responses = await Promise.all(
      SERVICES.map(({ listProjections }) =>
        this.requester.requestAll(listProjections, {}, { waitMs: GATHER_MS }),
      ),
    );
    return { items: mergeProjections(responses.flat().map(({ items }) => items)) };
  }

  @Route({
    accepts: { key: 'operate' },
    resource: projectionOf('name'),
    summary: 'Rebuild a projection while its current tables stay in use',
    description:
      'Returns immediately; the list shows the progress. If a rebuild is running, returns that one.',
    responses: [{ status: 202, description: 'The rebuild is running.', schema: 'Projection' }],
    errors: ['projection_not_found', 'newer_version_serves'],
  })
  @Post(':name/rebuild')
  async rebuild(@Param('name') name: string): Promise<ProjectionView> {
    for (const { rebuildProjection } of SERVICES) {
      try {
        return await this.requester.request(rebuildProjection, { name });
      } catch (error) {
        if (!isDomainError(error, 'not_found')) throw error;
      }
    }
    throw projectionOf('name').notFound();
  }
}
