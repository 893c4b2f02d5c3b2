import { agentsRequests, type HostRef, type HostView } from '@berth/contracts/agents';
import type { PageRequest } from '@berth/contracts/schema';
import type { Page } from '@berth/kernel';
import { HandleRequest } from '@berth/messaging';
import { Controller } from '@nestjs/common';
import { HostCommandHandler } from './host.command-handler.js';
import { HostListQuery } from './host-list.query.js';

type Nothing = Record<string, never>;

/** Hosts, for operators. */
@Controller()
export class OperatorHostsNatsController {
  constructor(
    private readonly hosts: HostCommandHandler,
    private readonly query: HostListQuery,
  ) {}

  @HandleRequest(agentsRequests.listHosts)
  list(request: PageRequest): Promise<Page<HostView>> {
    return this.query.list(request);
  }

  @HandleRequest(agentsRequests.drainHost)
  async drain(request: HostRef): Promise<Nothing> {
    await this.hosts.drain(request);
    return {};
  }

  @HandleRequest(agentsRequests.resumeHost)
  async resume(request: HostRef): Promise<Nothing> {
    await this.hosts.resume(request);
    return {};
  }

  @HandleRequest(agentsRequests.removeHost)
  async remove(request: HostRef): Promise<Nothing> {
    await this.hosts.remove(request);
    return {};
  }
}
