import { logsQuery, type LogsQuery } from '@berth/contracts/runtime';
import { isoTime } from '@berth/kernel';
import { Requester } from '@berth/messaging';
import { ServiceContext } from '@berth/service';
import { Controller, Get, Param, Query, Req, Res } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { callerOf } from '../auth/caller.js';
import { CredentialWatch } from '../auth/credential-watch.js';
import { agentOf } from '../agents/agent.resource.js';
import { Route } from '../http/route.decorator.js';
import type { ApiReply, ApiRequest } from '../http/fastify-types.js';
import { parseIsoTime } from '../validation/iso-time.js';
import { AgentLogs } from './agent-logs.js';
import { SseStream } from './sse-stream.js';
import { FollowedStreams, MAX_FOLLOWED_STREAMS } from './followed-streams.js';
import { followLogs } from './follow-logs.js';
import { SharedReads } from './shared-reads.js';

@ApiTags('Logs')
@Controller('api/agents/:agent_id/logs')
export class LogsController {
  constructor(
    private readonly requester: Requester,
    private readonly context: ServiceContext,
    private readonly credentials: CredentialWatch,
    private readonly followed: FollowedStreams,
    private readonly shared: SharedReads,
  ) {}

  @Route({
    accepts: { key: 'read', end_user: 'logs' },
    resource: agentOf('agent_id'),
    query: logsQuery,
    summary: 'Read or follow the logs of an agent',
    description:
      'Does not wake the agent or count as activity. Returns the newest `limit` entries; with `cursor`, the oldest `limit` entries after it; always oldest first. With `follow=true`, the response stays open and sends events: `log` (an entry as JSON; the event id is a cursor, so a client that reconnects with `Last-Event-ID` continues after it), a comment every 15 s, and `end` (`code`, `message`) before the service closes the stream itself. ' +
      `At one gateway, a key may follow ${MAX_FOLLOWED_STREAMS} streams at once; one more is 429.`,
    responses: [
      { status: 200, description: 'Log entries.', schema: 'LogsPage', alsoAs: 'text/event-stream' },
    ],
    errors: ['agent_not_found', 'rate_limited'],
  })
  @Get()
  async read(
    @Req() request: ApiRequest,
    @Param('agent_id') agentId: string,
    @Query() query: LogsQuery,
    @Res() reply: ApiReply,
  ): Promise<void> {
    const since = parseIsoTime(query.since);
    const filter = {
      agentId,
      limit: query.limit,
      level: query.level ?? null,
      since: since === undefined ? null : isoTime(since),
      source: query.source ?? null,
    };
    const logs = new AgentLogs(this.requester, callerOf(request).accountId, filter, this.shared);
    const first = await logs.read({ cursor: cursorOf(request, query), waitMs: 0 });
    if (!query.follow || request.method === 'HEAD') {
      await reply.send(first);
      return;
    }
    using _counted = this.followed.enter(request);
    const stream = new SseStream(request, reply);
    const last = await followLogs({
      first,
      read: (position) => logs.read(position),
      refused: (over) => this.credentials.untilRefused(request, over),
      send: (events) => stream.send(events),
      over: AbortSignal.any([stream.gone, this.context.stopping]),
    });
    stream.end(last);
  }
}

/** `Last-Event-ID` of a reconnecting client takes precedence over the cursor in its URL. */
const cursorOf = (request: ApiRequest, query: LogsQuery): string | null => {
  const last = request.headers['last-event-id'];
  return query.follow && typeof last === 'string' && last !== '' ? last : (query.cursor ?? null);
};
