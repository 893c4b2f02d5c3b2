import {
  execRequests,
  type AwaitExecution,
  type CancelExecution,
  type ExecutionRef,
  type ExecutionSummary,
  type FollowedOutput,
  type ListExecutions,
  type OpenConsole,
  type StreamTicket,
  type SubmitExecution,
  type SubmittedExecution,
} from '@berth/contracts/exec';
import type { ExecutionView } from '@berth/contracts/hosting';
import type { Page } from '@berth/kernel';
import { HandleRequest } from '@berth/messaging';
import { Controller } from '@nestjs/common';
import { ExecutionListQuery } from './execution-list/execution-list.query.js';
import { CancelCommandHandler } from './execution/cancel.command-handler.js';
import { ExecutionQuery } from './execution/execution.query.js';
import { FollowOutputHandler } from './open/follow-output.js';
import { OpenConsoleHandler } from './open/open-console.js';
import { SubmitCommandHandler } from './submission/submit.command-handler.js';

@Controller()
export class ExecNatsController {
  constructor(
    private readonly submissions: SubmitCommandHandler,
    private readonly query: ExecutionQuery,
    private readonly cancellations: CancelCommandHandler,
    private readonly executionList: ExecutionListQuery,
    private readonly output: FollowOutputHandler,
    private readonly consoles: OpenConsoleHandler,
  ) {}

  @HandleRequest(execRequests.submit)
  submit(request: SubmitExecution): Promise<SubmittedExecution> {
    return this.submissions.handle(request);
  }

  @HandleRequest(execRequests.get)
  get(request: ExecutionRef): Promise<ExecutionView> {
    return this.query.get(request);
  }

  @HandleRequest(execRequests.await)
  await(request: AwaitExecution): Promise<ExecutionView> {
    return this.query.await(request);
  }

  @HandleRequest(execRequests.cancel)
  cancel(request: CancelExecution): Promise<ExecutionView> {
    return this.cancellations.handle(request);
  }

  @HandleRequest(execRequests.list)
  list(request: ListExecutions): Promise<Page<ExecutionSummary>> {
    return this.executionList.list(request);
  }

  @HandleRequest(execRequests.followOutput)
  followOutput(request: ExecutionRef): Promise<FollowedOutput> {
    return this.output.handle(request);
  }

  @HandleRequest(execRequests.openConsole)
  openConsole(request: OpenConsole): Promise<StreamTicket & { readonly epoch: number }> {
    return this.consoles.handle(request);
  }
}
