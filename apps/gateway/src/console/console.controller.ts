import { consoleQuery, execRequests, type ConsoleQuery } from '@berth/contracts/exec';
import { Requester } from '@berth/messaging';
import { Controller, Get, Param, Query, Req, Res } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { detach } from '@berth/kernel';
import { CredentialWatch } from '../auth/credential-watch.js';
import { envelopeOf } from '../auth/caller.js';
import { agentOf } from '../agents/agent.resource.js';
import { CREDENTIAL_ENDED, HostSockets } from '../hosts/host-sockets.js';
import { Route } from '../http/route.decorator.js';
import type { ApiReply, ApiRequest } from '../http/fastify-types.js';
import { requireWebSocket } from '../http/upgrades.js';
import { WebSockets } from '../http/web-sockets.js';

/** The limit of one message, enough for a large paste. */
const MAX_MESSAGE_BYTES = 1024 * 1024;

@ApiTags('Console')
@Controller('api/agents/:agent_id/console')
export class ConsoleController {
  readonly #sockets = new WebSockets(MAX_MESSAGE_BYTES);

  constructor(
    private readonly requester: Requester,
    private readonly credentials: CredentialWatch,
    private readonly hosts: HostSockets,
  ) {}

  @Route({
    accepts: { key: 'deploy', end_user: 'console' },
    tokenInQuery: true,
    resource: agentOf('agent_id'),
    query: consoleQuery,
    summary: 'Open a terminal in an agent, over a WebSocket',
    description:
      'Wakes a sleeping agent and keeps it awake while the socket is open. Binary frames carry the terminal\'s bytes in both directions; the text frame `{"type": "resize", "cols": 120, "rows": 40}` resizes it. Closing the socket ends the shell; it closes with 1000 when the shell ends, 1001 when the service stops, 1008 when the credential is no longer valid and 1011 when the agent is gone.',
    responses: [{ status: 101, description: 'The terminal.' }],
    errors: [
      'agent_not_found',
      'agent_deploying',
      'agent_failed',
      'agent_stopped',
      'compute_cap_reached',
      'wake_limit_reached',
      'upgrade_required',
      'too_many_consoles',
      'console_unsupported',
      'agent_unavailable',
    ],
  })
  @Get()
  async open(
    @Req() request: ApiRequest,
    @Param('agent_id') agentId: string,
    @Query() { cols, rows }: ConsoleQuery,
    @Res() reply: ApiReply,
  ): Promise<void> {
    const gone = requireWebSocket(request);
    const open = (refusedEpoch: number | null) =>
      this.requester.request(execRequests.openConsole, {
        ...envelopeOf(request),
        agentId,
        cols,
        rows,
        refusedEpoch,
      });
    const host = await this.hosts.dial(open, gone);
    const client = this.#sockets.accept(request, reply);
    if (client === undefined) host.terminate();
    else
      detach(
        this.hosts.join(client, host, (over) => [
          this.credentials
            .untilRefused(request, over)
            .then((reason) => (reason === undefined ? undefined : CREDENTIAL_ENDED)),
        ]),
      );
  }
}
