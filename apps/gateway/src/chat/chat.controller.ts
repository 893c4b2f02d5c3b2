import { deliveryRequests } from '@berth/contracts/delivery';
import { Requester } from '@berth/messaging';
import { Body, Controller, Param, Post, Req, Res } from '@nestjs/common';
import { ApiProperty, ApiTags } from '@nestjs/swagger';
import { IsOptional } from 'class-validator';
import { envelopeOf } from '../auth/caller.js';
import { agentOf } from '../agents/agent.resource.js';
import { Route } from '../http/route.decorator.js';
import type { ApiReply, ApiRequest } from '../http/fastify-types.js';
import { JSON_BODY_LIMIT } from '../http/error-response.js';
import { IsText } from '../validation/rules.js';

/** A 503 comes within 5 s; the rest is for the way back. */
const UNAVAILABLE_AFTER_MS = 4_500;
/** A client that sends its body slowly spends its own time. */
const LEAST_MS = 2_000;

/** `POST /api/agents/{agent_id}/chat` */
export class ChatBody {
  @ApiProperty({
    description: 'Without NUL characters; the body may be 1 MiB.',
  })
  @IsText({ max: JSON_BODY_LIMIT })
  readonly message!: string;

  @ApiProperty({
    required: false,
    nullable: true,
    description:
      'Continues that conversation, or opens it. Without it, continues the current one of the agent.',
  })
  @IsOptional()
  @IsText({ max: 128 })
  readonly conversation_id?: string | null;
}

@ApiTags('Chat')
@Controller('api/agents/:agent_id/chat')
export class ChatController {
  constructor(private readonly requester: Requester) {}

  @Route({
    accepts: { key: 'deploy' },
    resource: agentOf('agent_id'),
    body: { kind: 'json', shape: ChatBody },
    summary: 'Chat with an agent',
    description:
      'Wakes a sleeping agent and waits for its reply, up to 600 s. A client that hangs up cancels nothing. Messages of one conversation arrive in order, one at a time.',
    responses: [{ status: 200, description: 'The reply.', schema: 'ChatReply' }],
    errors: [
      'agent_not_found',
      'agent_deploying',
      'agent_failed',
      'agent_stopped',
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
      withinMs: Math.max(LEAST_MS, UNAVAILABLE_AFTER_MS - response.elapsedTime),
    });
    return { response: reply.response, conversation_id: reply.conversationId };
  }
}
