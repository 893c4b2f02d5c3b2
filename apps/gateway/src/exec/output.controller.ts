import {
  execRequests,
  outputQuery,
  type ExecutionRef,
  type OutputQuery,
  type StreamTicket,
} from '@berth/contracts/exec';
import type { ExecutionView } from '@berth/contracts/hosting';
import { DomainError, isDomainError } from '@berth/kernel';
import { Requester } from '@berth/messaging';
import { ServiceContext } from '@berth/service';
import { Controller, Get, Param, Query, Req, Res } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { CredentialWatch } from '../auth/credential-watch.js';
import { agentOf } from '../agents/agent.resource.js';
import { HostConnections } from '../hosts/host-connections.js';
import { Route } from '../http/route.decorator.js';
import { errorResponse } from '../http/error-response.js';
import type { ApiReply, ApiRequest } from '../http/fastify-types.js';
import { SseStream, type ServerSentEvent } from '../logs/sse-stream.js';
import { FollowedStreams, MAX_FOLLOWED_STREAMS } from '../logs/followed-streams.js';
import { awaitEnd } from './await-end.js';
import { executionResponse } from './execution-response.js';
import { executionRef } from './execution-ref.js';
import { executionOf } from './execution.resource.js';
import { readOutputLines, type OutputPiece } from './output-lines.js';

/** A running command may write nothing for any length of time. */
const NO_TIMEOUT = 0;

@ApiTags('Exec')
@Controller('api/agents/:agent_id/exec/:execution_id/output')
export class OutputController {
  constructor(
    private readonly requester: Requester,
    private readonly context: ServiceContext,
    private readonly credentials: CredentialWatch,
    private readonly followedStreams: FollowedStreams,
    private readonly hosts: HostConnections,
  ) {}

  @Route({
    accepts: { key: 'deploy' },
    resource: [agentOf('agent_id'), executionOf('execution_id')],
    query: outputQuery,
    summary: 'Read or follow the output of an execution',
    description:
      'Without `follow` the execution as `GET` shows it. With `follow=true` server-sent events: `stdout` and `stderr` (`{text}`), first what is retained, then new output; finally `exit` (`{status, exitCode}`), or `end` (`code`, `message`) when the service closes the stream itself. Never wakes the agent and does not keep it awake. ' +
      `At one gateway, a key may follow ${MAX_FOLLOWED_STREAMS} streams at once; one more is 429.`,
    responses: [
      { status: 200, description: 'The output.', schema: 'Execution', alsoAs: 'text/event-stream' },
    ],
    errors: ['agent_not_found', 'execution_not_found', 'rate_limited'],
  })
  @Get()
  async read(
    @Req() request: ApiRequest,
    @Param('agent_id') agentId: string,
    @Param('execution_id') executionId: string,
    @Query() query: OutputQuery,
    @Res() reply: ApiReply,
  ): Promise<void> {
    const ref = executionRef(request, agentId, executionId);
    if (!query.follow || request.method === 'HEAD') {
      await reply.send(executionResponse(await this.requester.request(execRequests.get, ref)));
      return;
    }
    const followed = await this.requester.request(execRequests.followOutput, ref);
    using _counted = this.followedStreams.enter(request);
    const stream = new SseStream(request, reply);
    stream.end(
      await this.follow(request, stream, (over) =>
        followed.kind === 'ended'
          ? sendResult(stream, followed.execution)
          : this.sendLive(stream, ref, followed.stream, over),
      ),
    );
  }

  /** Returns the last event, which states why the stream ends. */
  private async follow(
    request: ApiRequest,
    stream: SseStream,
    send: (over: AbortSignal) => Promise<ServerSentEvent>,
  ): Promise<ServerSentEvent | undefined> {
    const ended = new AbortController();
    const over = AbortSignal.any([stream.gone, this.context.stopping, ended.signal]);
    try {
      return await Promise.race([
        send(over).catch(endOf),
        this.credentials
          .untilRefused(request, over)
          .then((reason) => (reason === undefined ? undefined : endOf(reason))),
      ]);
    } finally {
      ended.abort();
    }
  }

  private async sendLive(
    stream: SseStream,
    ref: ExecutionRef,
    { ticket, ...target }: StreamTicket,
    over: AbortSignal,
  ): Promise<ServerSentEvent> {
    const { statusCode, body } = await this.hosts.read(target, {
      method: 'GET',
      headers: { authorization: `Bearer ${ticket}` },
      signal: over,
      bodyTimeout: NO_TIMEOUT,
    });
    if (statusCode !== 200) {
      await body.dump();
      // The execution ended, or its agent went away, before the ticket was used: read the current state.
      return sendResult(stream, await awaitEnd(this.requester, ref, over));
    }
    for await (const piece of readOutputLines(body)) {
      if (piece.stream === 'end') break;
      await stream.send([eventOf(piece)]);
    }
    return exitOf(await awaitEnd(this.requester, ref, over));
  }
}

const sendResult = async (stream: SseStream, execution: ExecutionView): Promise<ServerSentEvent> => {
  for (const name of ['stdout', 'stderr'] as const) {
    const text = execution[name] ?? '';
    if (text !== '') await stream.send([{ event: name, data: { text } }]);
  }
  return exitOf(execution);
};

const eventOf = ({ stream, text }: Exclude<OutputPiece, { stream: 'end' }>): ServerSentEvent => ({
  event: stream,
  data: { text },
});

const exitOf = ({ status, exitCode }: ExecutionView): ServerSentEvent => ({
  event: 'exit',
  data: { status, exitCode },
});

const endOf = (error: unknown): ServerSentEvent => ({
  event: 'end',
  data: errorResponse(isDomainError(error) ? error : unreachable()).body.detail,
});

const unreachable = (): DomainError =>
  new DomainError(
    'unavailable',
    'agent_unavailable',
    'The output cannot be followed any further; read it again.',
  );
