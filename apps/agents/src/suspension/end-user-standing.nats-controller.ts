import { agentsRequests } from '@berth/contracts/agents';
import type { SetEndUserStanding } from '@berth/contracts/hosting';
import { HandleRequest } from '@berth/messaging';
import { Controller } from '@nestjs/common';
import { EndUserStandingHandler } from './end-user-standing.handler.js';

@Controller()
export class EndUserStandingNatsController {
  constructor(private readonly standing: EndUserStandingHandler) {}

  @HandleRequest(agentsRequests.setEndUserStanding)
  set(request: SetEndUserStanding): Promise<Record<string, never>> {
    return this.standing.handle(request);
  }
}
