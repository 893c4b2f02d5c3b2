import { Injectable } from '@nestjs/common';
import { accessRefusal, type AcceptedPrincipals } from '../auth/access.js';
import { identify } from '../auth/identify.js';
import { Authenticators } from '../auth/authenticators.js';
import { bearerOf, type Credential } from '../auth/credentials.js';
import type { Principal } from '../auth/principal.js';
import type { ApiRequest } from '../http/fastify-types.js';
import { HttpRefusal, unauthenticated } from '../http/http-refusal.js';
import { agentIdOf, AppOrigins } from './app-origins.js';
import { AppSessions } from './app-sessions.js';
import { hasOurSecret, type AppTarget } from './app-target.js';
import { isOurAuthorization } from './request-headers.js';
import { sessionsIn } from './session-cookie.js';

/** Who may use an app. */
export const APP_ACCESS: AcceptedPrincipals = { key: 'deploy', end_user: 'app' };

/** A caller who may use the app of an agent. */
export interface AppCaller {
  readonly agentId: string;
  readonly principal: Principal;
  /** Whether a browser added the credential automatically, as it does with a cookie. */
  readonly byCookie: boolean;
}

/** Decides who may send requests to an app. */
@Injectable()
export class AppAccess {
  constructor(
    private readonly authenticators: Authenticators,
    private readonly origins: AppOrigins,
    private readonly sessions: AppSessions,
  ) {}

  /**
   * Also sets the credential of the request. `target` and `token`: what `?token=` carried is in the latter only. Errors:
   * 401, 403, not_found `agent_not_found`.
   */
  async admit(
    request: ApiRequest,
    label: string,
    { target, token }: { readonly target: AppTarget; readonly token: Credential | undefined },
  ): Promise<AppCaller> {
    const { authorization, cookie } = request.headers;
    const isOurs = authorization !== undefined && isOurAuthorization(authorization);
    if (hasOurSecret(target) || (isOurs && token !== undefined))
      throw unauthenticated('Send credentials in the Authorization header, never in the address.');
    const agentId = agentIdOf(label);
    const own = isOurs ? bearerOf(authorization) : token;
    const byCookie = !isOurs && token === undefined;
    const credential = byCookie
      ? this.sessions.open(agentId ?? '', sessionsIn(cookie, this.origins.scheme))
      : own;
    const principal = await this.authenticate(request, credential);
    return { agentId: reachable(principal, agentId), principal, byCookie };
  }

  /** Errors: 401, 403. */
  async authenticate(request: ApiRequest, credential: Credential | undefined): Promise<Principal> {
    const principal = await identify(request, this.authenticators, credential);
    const refusal = accessRefusal(principal, APP_ACCESS);
    if (refusal !== undefined) throw refusal;
    return principal;
  }
}

/** The agent, if there can be one and the principal may see it. */
export const reachable = (principal: Principal, agentId: string | undefined): string => {
  const isOther = 'agentId' in principal && principal.agentId !== agentId;
  if (agentId === undefined || isOther)
    throw new HttpRefusal(404, 'agent_not_found', 'There is no such agent.');
  return agentId;
};
