import { actionsBody, planActions, type ActionPlan, type ActionsAnswer } from '@berth/contracts/computers';
import { Body, Controller, Param, Post, Req } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { envelopeOf } from '../auth/caller.js';
import type { ApiRequest } from '../http/fastify-types.js';
import { Route } from '../http/route.decorator.js';
import { ActionBatches, outcomeUnknown } from './action-batches.js';
import { aboutComputer, useErrors } from './computer-errors.js';
import { computer } from './computer.resource.js';

@ApiTags('Computers')
@Controller('api/v1/computers/:computer_id/actions')
export class ComputerActionsController {
  constructor(private readonly batches: ActionBatches) {}

  @Route({
    accepts: { key: 'computers' },
    resource: computer,
    body: {
      kind: 'json',
      shape: actionsBody,
      read: async (body, lookUp) => planActions(body, (await lookUp(computer)).display),
    },
    summary: 'Act on a computer',
    description:
      "Wakes a sleeping computer. One action, or a batch of up to 100, each as a model sends it: canonical and OpenAI's (`type`), Anthropic's (`action`), a `tool_use` block, or a `computer_call` item. Everything is validated before anything is done. Batches run one at a time, in order of arrival, and to their end also if the connection closes. After a failure with `stopOnError` the rest is in `skipped`. `output` is what the vendor of the model expects back.",
    responses: [{ status: 200, description: 'What came of each action.', schema: 'ActionResults' }],
    errors: useErrors([
      'invalid_action',
      'safety_check_pending',
      'taken_over',
      'too_many_batches',
      'actions_outcome_unknown',
    ]),
  })
  @Post()
  act(
    @Req() request: ApiRequest,
    @Param('computer_id') computerId: string,
    @Body() plan: ActionPlan,
  ): Promise<ActionsAnswer> {
    // The results of an earlier attempt are lost, and a second one would do everything again.
    if (request.claim?.repeated === true) throw outcomeUnknown();
    return aboutComputer(this.batches.run({ ...envelopeOf(request), computerId }, plan));
  }
}
