import { agentsRequests, type TemplateView } from '@berth/contracts/agents';
import { Requester } from '@berth/messaging';
import { Controller, Get } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { Route } from '../http/route.decorator.js';

@ApiTags('Templates')
@Controller('api/templates')
export class TemplatesController {
  constructor(private readonly requester: Requester) {}

  @Route({
    accepts: 'anyone',
    summary: 'List the templates for new agents',
    responses: [{ status: 200, description: 'All templates.', schema: 'TemplateList' }],
  })
  @Get()
  list(): Promise<{ readonly items: readonly TemplateView[] }> {
    return this.requester.request(agentsRequests.templates, {});
  }
}
