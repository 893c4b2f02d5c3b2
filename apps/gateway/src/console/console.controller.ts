import { consoleQuery, execRequests, type ConsoleQuery, type OpenConsole } from '@berth/contracts/exec';
import { Requester } from '@berth/messaging';
import { ServiceContext } from '@berth/service';
import { Controller, Get, Param, Query, Req, Res } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import type { WebSocket } from 'ws';
import { detach } from '@berth/kernel';
import { CredentialWatch } from '../auth/credential-watch.js';
import { envelopeOf } from '../auth/caller.js';
import { agentOf } from '../agents/agent.resource.js';
import { HostConnections } from '../hosts/host-connections.js';
import { Route } from '../http/route.decorator.js';
import type { ApiReply, ApiRequest } from '../http/fastify-types.js';
import { agentUnavailable, TicketLost } from '../http/transfer-refusal.js';
import { HttpRefusal } from '../http/http-refusal.js';
import { requireWebSocket } from '../http/upgrades.js';
import { WebSockets } from '../http/web-sockets.js';
import { Bridge } from './bridge.js';
import { dialHost } from './dial-host.js';

/** Maximum number of tickets: the agent may fall asleep before a ticket is used. */
const ATTEMPTS = 3;
/** The limit of one message, enough for a large paste. */
const MAX_MESSAGE_BYTES = 1024 * 1024;
const POLICY_VIOLATION = 1008;
const GOING_AWAY = 1001;

@ApiTags('Console')
@Controller('api/agents/:agent_id/console')
export class ConsoleController {
  readonly #sockets = new WebSockets(MAX_MESSAGE_BYTES);

  constructor(
    private readonly requester: Requester,
    private readonly context: ServiceContext,
    private readonly credentials: CredentialWatch,
    private readonly hosts: HostConnections,
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
    const dialled = this.dial(request, agentId, { cols, rows }, gone);
    const host = await Promise.race([dialled, whenAborted(gone)]);
    if (host === undefined || gone.aborted) {
      // Ends the shell, because its client is gone.
      dialled.then((late) => late.terminate()).catch(() => undefined);
      throw new HttpRefusal(408, 'request_aborted', 'The client hung up.');
    }
    const client = this.#sockets.accept(request, reply);
    if (client === undefined) host.terminate();
    else detach(this.join(request, client, host));
  }

  private async dial(
    request: ApiRequest,
    agentId: string,
    size: ConsoleQuery,
    gone: AbortSignal,
  ): Promise<WebSocket> {
    let refusedEpoch: number | null = null;
    for (let attempt = 1; ; attempt++) {
      const command: OpenConsole = { ...envelopeOf(request), agentId, ...size, refusedEpoch };
      const { epoch, ...opened } = await this.requester.request(execRequests.openConsole, command);
      try {
        return await dialHost(this.hosts, opened, gone);
      } catch (error) {
        if (!(error instanceof TicketLost)) throw error;
        if (attempt === ATTEMPTS) throw agentUnavailable(error);
        if (error.reason === 'stale_epoch') refusedEpoch = epoch;
      }
    }
  }

  private async join(request: ApiRequest, client: WebSocket, host: WebSocket): Promise<void> {
    const bridge = new Bridge(client, host);
    host.resume();
    const ended = new AbortController();
    const stopping = (): void => bridge.end(GOING_AWAY, 'The service stops.');
    this.context.stopping.addEventListener('abort', stopping, { once: true });
    const refused = this.credentials.untilRefused(request, ended.signal);
    const refuse = (): void => bridge.end(POLICY_VIOLATION, 'The credential is no longer valid.');
    detach(refused.then((reason) => (reason === undefined ? undefined : refuse())));
    await bridge.over;
    ended.abort();
    this.context.stopping.removeEventListener('abort', stopping);
  }
}

const whenAborted = (signal: AbortSignal): Promise<undefined> =>
  new Promise((resolve) => {
    if (signal.aborted) resolve(undefined);
    else signal.addEventListener('abort', () => resolve(undefined), { once: true });
  });
