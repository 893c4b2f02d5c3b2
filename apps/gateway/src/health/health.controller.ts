import type { Json } from '@berth/kernel';
import { Controller, Get, Res } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { Route } from '../http/route.decorator.js';
import type { ApiReply } from '../http/fastify-types.js';
import { HealthProbe } from './health.probe.js';
import type { HealthView } from './health.view.js';

@ApiTags('Health')
@Controller('health')
export class HealthController {
  constructor(private readonly probe: HealthProbe) {}

  @Route({
    accepts: 'anyone',
    summary: 'Health of the service and its dependencies',
    description:
      'Probes each dependency with a real request; one that does not respond within 1 s is not `ok`. 503 when no request can be served; the body then also has `detail`.',
    responses: [
      {
        status: 200,
        description:
          'Requests are served. `ok`, or `degraded` while a dependency or background work of a service is unavailable.',
        schema: 'Health',
      },
    ],
  })
  @Get()
  async health(
    @Res({ passthrough: true }) reply: ApiReply,
  ): Promise<HealthView & { readonly detail?: Readonly<Record<string, Json>> }> {
    const health = await this.probe.check();
    if (health.status !== 'unavailable') return health;
    reply.code(503).header('retry-after', '1');
    const message = 'A part that every request needs is not available right now.';
    return { ...health, detail: { code: 'service_unavailable', message } };
  }
}
