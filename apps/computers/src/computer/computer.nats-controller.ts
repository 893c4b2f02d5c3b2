import type { AwakeAgent } from '@berth/contracts/agents';
import {
  computersRequests,
  type ComputerRef,
  type ComputerTransition,
  type ComputerView,
  type CreateComputer,
  type CreatedComputer,
  type GetComputer,
  type ListComputers,
} from '@berth/contracts/computers';
import type { CommandEnvelope, Page } from '@berth/kernel';
import { HandleRequest } from '@berth/messaging';
import { Controller } from '@nestjs/common';
import { ComputerListQuery } from '../computer-list/computer-list.query.js';
import { ComputerCreation } from './computer-creation.js';
import { ComputerDeletion } from './computer-deletion.js';
import { EnsureAwakeHandler, type UseOfComputer } from './ensure-awake.js';
import { Transitions } from './transitions.js';

@Controller()
export class ComputerNatsController {
  constructor(
    private readonly creation: ComputerCreation,
    private readonly deletion: ComputerDeletion,
    private readonly transitions: Transitions,
    private readonly awake: EnsureAwakeHandler,
    private readonly query: ComputerListQuery,
  ) {}

  @HandleRequest(computersRequests.create)
  create(request: CreateComputer): Promise<CreatedComputer> {
    return this.creation.create(request);
  }

  @HandleRequest(computersRequests.get)
  get(request: GetComputer): Promise<ComputerView> {
    return this.query.get(request);
  }

  @HandleRequest(computersRequests.list)
  list(request: ListComputers): Promise<Page<ComputerView>> {
    return this.query.list(request);
  }

  @HandleRequest(computersRequests.delete)
  async delete(request: ComputerRef): Promise<Record<string, never>> {
    await this.deletion.delete(request);
    return {};
  }

  @HandleRequest(computersRequests.wake)
  wake(request: ComputerRef): Promise<ComputerTransition> {
    return this.transitions.wake(request);
  }

  @HandleRequest(computersRequests.sleep)
  sleep(request: ComputerRef): Promise<ComputerTransition> {
    return this.transitions.sleep(request);
  }

  @HandleRequest(computersRequests.ensureAwake)
  ensureAwake(request: UseOfComputer): Promise<AwakeAgent> {
    return this.awake.handle(request);
  }

  @HandleRequest(computersRequests.forgetEndUser)
  async forgetEndUser(
    request: CommandEnvelope & { readonly endUserId: string },
  ): Promise<Record<string, never>> {
    await this.deletion.forgetEndUser(request);
    return {};
  }
}
