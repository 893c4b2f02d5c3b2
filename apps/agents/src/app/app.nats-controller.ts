import { agentsRequests, type OpenApp, type OpenedApp } from '@berth/contracts/agents';
import { HandleRequest } from '@berth/messaging';
import { Controller } from '@nestjs/common';
import { TemplateCatalogue } from '../templates/template-catalogue.js';
import { OpenAppHandler } from './open-app.js';

@Controller()
export class AppNatsController {
  constructor(
    private readonly apps: OpenAppHandler,
    private readonly templates: TemplateCatalogue,
  ) {}

  @HandleRequest(agentsRequests.openApp)
  open(request: OpenApp): Promise<OpenedApp> {
    return this.apps.handle(request);
  }

  @HandleRequest(agentsRequests.programlessTemplates)
  async programless(): Promise<{ templateIds: readonly string[] }> {
    return await Promise.resolve({ templateIds: this.templates.withoutProgram() });
  }
}
