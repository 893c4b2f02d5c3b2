import type { AddressInfo } from 'node:net';
import { isId } from '@berth/kernel';
import { Injectable } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import { GatewayConfig } from '../config.js';

const DEFAULT_HOST = 'apps.localhost';
const AUTHORITY = /^([^:[\]]+?)\.?(?::\d*)?$/;

/** The origin of each agent's app, `http(s)://<agent id with - for _>.<apps host>`. */
@Injectable()
export class AppOrigins {
  /** Without a port. */
  readonly #hostname: string;

  constructor(
    private readonly config: GatewayConfig,
    private readonly adapterHost: HttpAdapterHost,
  ) {
    this.#hostname = hostnameOf(config.appsHost ?? DEFAULT_HOST);
  }

  /** The scheme of every app's origin, as browsers see it. */
  get scheme(): 'http' | 'https' {
    const { appsHost, publicUrl } = this.config;
    return appsHost !== undefined && publicUrl?.startsWith('https:') === true ? 'https' : 'http';
  }

  /** The URL of an agent's app, without a path. The gateway must be listening. */
  urlOf(agentId: string): string {
    return this.urlBelow(agentId.replace('_', '-'));
  }

  /** The URL of the host that has this label below the apps host. */
  urlBelow(label: string): string {
    return `${this.scheme}://${label}.${this.config.appsHost ?? `${DEFAULT_HOST}:${this.#port}`}`;
  }

  /**
   * The origins of an app's own pages: that of its URL, and that of the request, because a proxy in front may take the port
   * from `Host`, or may have another one. Browsers let no page choose `Host`.
   */
  ownOrigins(agentId: string, host: string): readonly string[] {
    return [new URL(this.urlOf(agentId)).origin, `${this.scheme}://${host.toLowerCase()}`];
  }

  /**
   * What precedes the apps host in a `Host` header: of an app, the agent's id with `-` for `_`; empty for the apps host
   * itself. Undefined for every other host. Ports do not count, because a proxy in front may have another one.
   */
  labelOf(host: string): string | undefined {
    const hostname = hostnameOf(host);
    if (hostname === this.#hostname) return '';
    const suffix = `.${this.#hostname}`;
    return hostname.endsWith(suffix) ? hostname.slice(0, -suffix.length) : undefined;
  }

  get #port(): number {
    const address = (this.adapterHost.httpAdapter.getHttpServer() as { address(): AddressInfo }).address();
    return address.port;
  }
}

/** The agent's id that a label names; undefined if it names none. */
export const agentIdOf = (label: string): string | undefined => {
  const agentId = label.replace('-', '_');
  return !label.includes('_') && isId('agt', agentId) ? agentId : undefined;
};

/** The host name of a `Host` header in lower case; a final dot names the same host. */
export const hostnameOf = (host: string): string => (AUTHORITY.exec(host)?.[1] ?? '').toLowerCase();
