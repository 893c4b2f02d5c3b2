import { Injectable } from '@nestjs/common';
import { tokenIn } from '../auth/credentials.js';
import { rateRefusal } from '../auth/request-rate.js';
import type { ApiReply, ApiRequest } from '../http/fastify-types.js';
import { FIXED_HEADERS } from '../http/fixed-headers.js';
import { HttpRefusal, unauthenticated } from '../http/http-refusal.js';
import { AppAccess, reachable } from './app-access.js';
import { agentIdOf, AppOrigins } from './app-origins.js';
import { ambiguityOf } from './app-request.js';
import { AppSessions } from './app-sessions.js';
import type { AppTarget } from './app-target.js';
import { setCookieOf } from './session-cookie.js';

/** `GET /.berth/enter?token=`: trades an end user's token for a session's cookie, without waking the agent. */
@Injectable()
export class AppEntrance {
  constructor(
    private readonly access: AppAccess,
    private readonly sessions: AppSessions,
    private readonly origins: AppOrigins,
  ) {}

  /** Errors: 401, 403, not_found `agent_not_found`, 405, 400, 429. */
  async enter(request: ApiRequest, reply: ApiReply, label: string, target: AppTarget): Promise<void> {
    const [token, ...more] = target.query.getAll('token');
    const credential = token === undefined || more.length > 0 ? undefined : tokenIn(token);
    if (credential?.kind !== 'end_user') throw unauthenticated('Send an end-user token as ?token=eu_….');
    const principal = await this.access.authenticate(request, credential);
    const agentId = reachable(principal, agentIdOf(label));
    if (request.method !== 'GET')
      throw new HttpRefusal(405, 'method_not_allowed', 'This path accepts GET.', {}, { allow: 'GET' });
    const refusal = ambiguityOf(request.raw, target) ?? rateRefusal(principal);
    if (refusal !== undefined) throw refusal;
    const cookie = setCookieOf(this.sessions.seal(agentId, credential), this.origins.scheme);
    reply.raw.writeHead(303, {
      ...FIXED_HEADERS,
      location: '/',
      'set-cookie': cookie,
      'x-request-id': request.id,
      'content-length': 0,
    });
    reply.raw.end();
  }
}
