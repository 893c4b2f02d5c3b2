import {
  execRequests,
  type AwaitExecution,
  type CancelExecution,
  type ExecutionRef,
  type ExecutionSummary,
  type ExecutionView,
  type FollowedOutput,
  type ListExecutions,
  type OpenConsole,
  type StreamTicket,
  type SubmitExecution,
  type SubmittedExecution,
} from '@berth/contracts/exec';
import type { Page } from '@berth/kernel';
import { HandleRequest } from '@berth/messaging';
import { Controller } from '@nestjs/common';
import { ExecHandlers } from './assemble.js';

@Controller()
export class ExecNatsController {
  constructor(private readonly handlers: ExecHandlers) {}

  @HandleRequest(execRequests.submit)
  submit(request: SubmitExecution): Promise<SubmittedExecution> {
    return this.handlers.submit.handle(request);
  }

  @HandleRequest(execRequests.get)
  get(request: ExecutionRef): Promise<ExecutionView> {
    return this.handlers.query.get(request);
  }

  @HandleRequest(execRequests.await)
  await(request: AwaitExecution): Promise<ExecutionView> {
    return this.handlers.query.await(request);
  }

  @HandleRequest(execRequests.cancel)
  cancel(request: CancelExecution): Promise<ExecutionView> {
    return this.handlers.cancel.handle(request);
  }

  @HandleRequest(execRequests.list)
  list(request: ListExecutions): Promise<Page<ExecutionSummary>> {
    return this.handlers.list.list(request);
  }

  @HandleRequest(execRequests.followOutput)
  followOutput(request: ExecutionRef): Promise<FollowedOutput> {
    return this.handlers.followOutput.handle(request);
  }

  @HandleRequest(execRequests.openConsole)
  openConsole(request: OpenConsole): Promise<StreamTicket & { readonly epoch: number }> {
    return this.handlers.openConsole.handle(request);
  }
}
