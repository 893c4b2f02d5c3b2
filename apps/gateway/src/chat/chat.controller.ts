import { chatBody, deliveryRequests, type ChatBody } from '@berth/contracts/delivery';
import { Requester } from '@berth/messaging';
import { Body, Controller, Param, Post, Req, Res } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { envelopeOf } from '../auth/caller.js';
import { agentOf } from '../agents/agent.resource.js';
import { Route } from '../http/route.decorator.js';
import type { ApiReply, ApiRequest } from '../http/fastify-types.js';

/** A 503 must reach the client within 5 s; this leaves half a second to return it. */
const UNAVAILABLE_AFTER_MS = 4_500;
/** The time that the services get even if the client took long to send the body. */
const MIN_BUDGET_MS = 2_000;

@ApiTags('Chat')
@Controller('api/agents/:agent_id/chat')
export class ChatController {
  constructor(private readonly requester: Requester) {}

  @Route({
    accepts: { key: 'deploy', end_user: 'chat' },
    resource: agentOf('agent_id'),
    body: { kind: 'json', shape: chatBody },
    summary: 'Chat with an agent',
    description:
      'Wakes a sleeping agent and waits for its answer, up to 600 s. Closing the connection cancels nothing. Messages of one conversation arrive in order, one at a time.',
    responses: [{ status: 200, description: 'The answer.', schema: 'ChatReply' }],
    errors: [
      'agent_not_found',
      'agent_deploying',
      'agent_failed',
      'agent_stopped',
      'compute_cap_reached',
      'spend_cap_reached',
      'insufficient_credits',
      'wake_limit_reached',
      'idempotency_answer_gone',
      'rate_limited',
      'chat_unsupported',
      'agent_error',
      'agent_unavailable',
      'agent_timeout',
    ],
  })
  @Post()
  async chat(
    @Req() request: ApiRequest,
    @Param('agent_id') agentId: string,
    @Body() body: ChatBody,
    @Res({ passthrough: true }) response: ApiReply,
  ): Promise<{ readonly response: string; readonly conversation_id: string }> {
    const reply = await this.requester.request(deliveryRequests.chat, {
      ...envelopeOf(request),
      agentId,
      message: body.message,
      conversationId: body.conversation_id ?? null,
      repeated: request.claim?.repeated ?? false,
      withinMs: Math.max(MIN_BUDGET_MS, UNAVAILABLE_AFTER_MS - response.elapsedTime),
    });
    return { response: reply.response, conversation_id: reply.conversationId };
  }
}
