import { agentsRequests, type OpenApp, type OpenedApp } from '@berth/contracts/agents';
import { HandleRequest } from '@berth/messaging';
import { Controller } from '@nestjs/common';
import { OpenAppHandler } from './open-app.js';

@Controller()
export class AppNatsController {
  constructor(private readonly apps: OpenAppHandler) {}

  @HandleRequest(agentsRequests.openApp)
  open(request: OpenApp): Promise<OpenedApp> {
    return this.apps.handle(request);
  }
}
