import {
  execRequests,
  executionIdOf,
  listExecutionsQuery,
  submitBody,
  type ExecutionSummary,
  type ListExecutionsQuery,
  type SubmitBody,
  type SubmittedExecution,
} from '@berth/contracts/exec';
import type { Page } from '@berth/kernel';
import { Requester } from '@berth/messaging';
import { Body, Controller, Delete, Get, Param, Post, Query, Req, Res } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { callerOf, envelopeOf } from '../auth/caller.js';
import { agentOf } from '../agents/agent.resource.js';
import { executionOf } from './execution.resource.js';
import { Route } from '../http/route.decorator.js';
import type { ApiReply, ApiRequest } from '../http/fastify-types.js';
import { awaitEnd, isResponseLost, outcomeUnknown } from './await-end.js';
import {
  executionResponse,
  type ExecutionResponse,
  type LegacyExecutionResponse,
} from './execution-response.js';
import { executionRef } from './execution-ref.js';
import { toShellCommand } from './shell-command.js';
import { BODY_LIMIT_BYTES, DEFAULT_ATTACHED_SECONDS, OVERHEAD_MS } from './submission-bounds.js';
import { submitAgainWhenLost } from './submit-again.js';
import { commandRefusal } from './command-refusal.js';

@ApiTags('Exec')
@Controller('api/agents/:agent_id/exec')
export class ExecController {
  constructor(private readonly requester: Requester) {}

  @Route({
    accepts: { key: 'deploy' },
    resource: agentOf('agent_id'),
    body: {
      kind: 'json',
      shape: submitBody,
      codes: { command: 'invalid_command', detached: 'invalid_detached', timeout: 'invalid_timeout' },
      refusal: commandRefusal,
      limitBytes: BODY_LIMIT_BYTES,
    },
    summary: 'Run a command in an agent',
    description:
      'Wakes a sleeping agent. Returns when an attached command (the default) has ended, or once a detached command has started. Closing the connection cancels nothing. A 409 `vm_not_ready` and a 503 `guest_command_unavailable` say that the command did not start; after any other failure it may have. An agent with an older guest returns only `{exitCode, stdout, stderr}`, with both streams in `stdout`.',
    responses: [
      { status: 200, description: 'Attached: the result.', schema: 'AttachedResult' },
      { status: 202, description: 'Detached: accepted.', schema: 'AcceptedExecution', location: true },
    ],
    errors: [
      'invalid_command',
      'invalid_detached',
      'invalid_timeout',
      'invalid_cwd',
      'end_user_suspended',
      'compute_cap_reached',
      'wake_limit_reached',
      'agent_not_found',
      'vm_not_ready',
      'detached_unsupported',
      'execution_outcome_unknown',
      'guest_command_unavailable',
    ],
  })
  @Post()
  async submit(
    @Req() request: ApiRequest,
    @Param('agent_id') agentId: string,
    @Body() body: SubmitBody,
    @Res({ passthrough: true }) reply: ApiReply,
  ): Promise<ExecutionResponse | LegacyExecutionResponse> {
    const { detached } = body;
    const submitted = await this.run(request, agentId, body);
    if (submitted.kind === 'legacy') {
      return { exitCode: submitted.exitCode, stdout: submitted.stdout, stderr: '' };
    }
    const { executionId, status } = submitted.execution;
    if (!detached) return executionResponse(submitted.execution);
    reply.code(202).header('location', `/api/agents/${agentId}/exec/${executionId}`);
    return { executionId, status };
  }

  @Route({
    accepts: { key: 'deploy' },
    resource: agentOf('agent_id'),
    query: listExecutionsQuery,
    summary: 'List executions, newest first',
    description: 'Running ones, and those that ended within the last 24 hours. Never wakes the agent.',
    responses: [{ status: 200, description: 'One page.', schema: 'ExecutionPage' }],
    errors: ['agent_not_found'],
  })
  @Get()
  list(
    @Req() request: ApiRequest,
    @Param('agent_id') agentId: string,
    @Query() query: ListExecutionsQuery,
  ): Promise<Page<ExecutionSummary>> {
    return this.requester.request(execRequests.list, {
      accountId: callerOf(request).accountId,
      agentId,
      status: query.status ?? null,
      cursor: query.cursor ?? null,
      limit: query.limit,
    });
  }

  @Route({
    accepts: { key: 'deploy' },
    resource: [agentOf('agent_id'), executionOf('execution_id')],
    summary: 'Get an execution and its output',
    description:
      'Never runs the command again and never wakes the agent. While it runs: `executionId` and `status` only. Results are kept for 24 hours.',
    responses: [{ status: 200, description: 'The execution.', schema: 'Execution' }],
    errors: ['agent_not_found', 'execution_not_found'],
  })
  @Get(':execution_id')
  async get(
    @Req() request: ApiRequest,
    @Param('agent_id') agentId: string,
    @Param('execution_id') executionId: string,
  ): Promise<ExecutionResponse> {
    const ref = executionRef(request, agentId, executionId);
    return executionResponse(await this.requester.request(execRequests.get, ref));
  }

  @Route({
    accepts: { key: 'deploy' },
    resource: [agentOf('agent_id'), executionOf('execution_id')],
    summary: 'Cancel an execution',
    description:
      'Ends the command and everything it started: SIGTERM, then SIGKILL after 2 s. The result stays available; that of an ended execution is returned unchanged.',
    responses: [{ status: 200, description: 'The final result.', schema: 'Execution' }],
    errors: ['agent_not_found', 'execution_not_found'],
  })
  @Delete(':execution_id')
  async cancel(
    @Req() request: ApiRequest,
    @Param('agent_id') agentId: string,
    @Param('execution_id') executionId: string,
  ): Promise<ExecutionResponse> {
    const ref = executionRef(request, agentId, executionId);
    const view = await this.requester.request(execRequests.cancel, { ...envelopeOf(request), ...ref });
    return executionResponse(view);
  }

  /** Submits the command. If the response is lost, queries the execution by its id. */
  private async run(request: ApiRequest, agentId: string, body: SubmitBody): Promise<SubmittedExecution> {
    const { command, detached, timeout = null, cwd = null, env } = body;
    const envelope = envelopeOf(request);
    const submission = {
      ...envelope,
      agentId,
      command: toShellCommand(command),
      detached,
      timeoutSeconds: timeout,
      cwd,
      env: env ?? {},
      repeated: request.claim?.repeated ?? false,
    };
    const seconds = detached ? 0 : (timeout ?? DEFAULT_ATTACHED_SECONDS);
    const ref = { accountId: envelope.accountId, agentId, executionId: executionIdOf(envelope.commandId) };
    try {
      const deadlineMs = seconds * 1000 + OVERHEAD_MS;
      const submitted = await submitAgainWhenLost(this.requester, submission, deadlineMs);
      const isRunning = submitted.kind === 'execution' && submitted.execution.status === 'running';
      if (detached || !isRunning) return submitted;
    } catch (error) {
      if (!isResponseLost(error)) throw error;
      if (detached) throw outcomeUnknown(ref.executionId, error);
    }
    return { kind: 'execution', execution: await awaitEnd(this.requester, ref) };
  }
}
