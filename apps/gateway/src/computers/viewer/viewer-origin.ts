import { Injectable } from '@nestjs/common';
import { AppOrigins } from '../../app-proxy/app-origins.js';
import { GatewayConfig } from '../../config.js';
import { PublicOrigin } from '../../http/public-origin.js';
import { VIEWER_LABEL } from './viewer-label.js';
import { ViewerServer } from './viewer-server.js';

/** The origin of viewers of computers, which neither the API nor an app has. */
@Injectable()
export class ViewerOrigin {
  constructor(
    private readonly config: GatewayConfig,
    private readonly apps: AppOrigins,
    private readonly api: PublicOrigin,
    private readonly server: ViewerServer,
  ) {}

  /** The URL, without a path. The gateway must be listening. */
  get url(): string {
    if (this.config.appsHost !== undefined) return this.apps.urlBelow(VIEWER_LABEL);
    return `http://${new URL(this.api.url).hostname}:${String(this.server.port)}`;
  }

  /** The same for WebSockets. */
  get socketUrl(): string {
    return this.url.replace(/^http/, 'ws');
  }

  /** Whether a page with this `Origin` is the viewer's own; `host` is the `Host` of its request (see `AppOrigins`). */
  isOwn(origin: string, host: string): boolean {
    const { scheme } = this.apps;
    return [new URL(this.url).origin, `${scheme}://${host.toLowerCase()}`].includes(origin.toLowerCase());
  }

  /** The origins whose pages may embed a viewer: those of the API, for the operator's own pages. */
  get embedders(): readonly string[] {
    const { url } = this.api;
    return this.config.publicUrl === undefined ? [url, url.replace('//localhost:', '//127.0.0.1:')] : [url];
  }
}
