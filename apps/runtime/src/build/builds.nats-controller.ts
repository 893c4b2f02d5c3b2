import { runtimeRequests, type BuildRef, type BuildState, type BuildVersion } from '@berth/contracts/runtime';
import { HandleRequest } from '@berth/messaging';
import { Controller } from '@nestjs/common';
import { Builds } from './builds.js';

/** NATS handlers of a host for its builds. */
@Controller()
export class BuildsNatsController {
  constructor(private readonly builds: Builds) {}

  @HandleRequest(runtimeRequests.build)
  async build(request: BuildVersion): Promise<BuildState> {
    return this.builds.follow(request);
  }

  @HandleRequest(runtimeRequests.cancelBuild)
  async cancel(ref: BuildRef): Promise<Record<string, never>> {
    await this.builds.cancel(ref);
    return {};
  }
}
