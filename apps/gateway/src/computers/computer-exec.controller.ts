import { computerExecBody, computersRequests, type ComputerExecBody } from '@berth/contracts/computers';
import { DomainError } from '@berth/kernel';
import { Requester } from '@berth/messaging';
import { Body, Controller, Param, Post, Req } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { envelopeOf } from '../auth/caller.js';
import { isResponseLost } from '../exec/await-end.js';
import { commandRefusal } from '../exec/command-refusal.js';
import { executionResponse, type ExecutionResponse } from '../exec/execution-response.js';
import { BODY_LIMIT_BYTES, DEFAULT_ATTACHED_SECONDS, OVERHEAD_MS } from '../exec/submission-bounds.js';
import { toShellCommand } from '../exec/shell-command.js';
import type { ApiRequest } from '../http/fastify-types.js';
import { Route } from '../http/route.decorator.js';
import { useErrors } from './computer-errors.js';
import { computer } from './computer.resource.js';

@ApiTags('Computers')
@Controller('api/v1/computers/:computer_id/exec')
export class ComputerExecController {
  constructor(private readonly requester: Requester) {}

  @Route({
    accepts: { key: 'computers' },
    resource: computer,
    body: {
      kind: 'json',
      shape: computerExecBody,
      codes: { command: 'invalid_command', detached: 'invalid_detached', timeout: 'invalid_timeout' },
      refusal: commandRefusal,
      limitBytes: BODY_LIMIT_BYTES,
    },
    summary: 'Run a command on a computer',
    description:
      "Wakes a sleeping computer. The command runs as the desktop's own user with `DISPLAY` and `HOME`, and the response arrives when it has ended. Closing the connection cancels nothing. The result is not kept.",
    responses: [{ status: 200, description: 'The result.', schema: 'Execution' }],
    errors: useErrors([
      'invalid_command',
      'invalid_detached',
      'invalid_timeout',
      'invalid_cwd',
      'execution_outcome_unknown',
    ]),
  })
  @Post()
  async run(
    @Req() request: ApiRequest,
    @Param('computer_id') computerId: string,
    @Body() { command, timeout = null, cwd = null, env }: ComputerExecBody,
  ): Promise<ExecutionResponse> {
    if (request.claim?.repeated === true) throw outcomeUnknown();
    const execution = {
      ...envelopeOf(request),
      computerId,
      command: toShellCommand(command),
      timeoutSeconds: timeout,
      cwd,
      env: env ?? {},
    };
    const deadlineMs = (timeout ?? DEFAULT_ATTACHED_SECONDS) * 1_000 + OVERHEAD_MS;
    try {
      return executionResponse(
        await this.requester.request(computersRequests.exec, execution, { deadlineMs }),
      );
    } catch (error) {
      throw isResponseLost(error) ? outcomeUnknown(error) : error;
    }
  }
}

const outcomeUnknown = (cause?: unknown): DomainError =>
  new DomainError(
    'upstream',
    'execution_outcome_unknown',
    'The command may have been run, and its result is lost: look at the computer before you send it again.',
    {},
    { cause, effect: 'unknown' },
  );
