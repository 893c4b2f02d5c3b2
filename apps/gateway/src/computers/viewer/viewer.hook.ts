import { Injectable } from '@nestjs/common';
import { unknownRoute } from '../../http/error-response.js';
import type { ApiReply, ApiRequest, HttpServer } from '../../http/fastify-types.js';
import { FIXED_HEADERS } from '../../http/fixed-headers.js';
import { hostRefusal } from '../../http/host-header.js';
import { HttpRefusal } from '../../http/http-refusal.js';
import { pathOf } from '../../http/request-path.js';
import { viewerFiles } from './viewer-files.js';
import { ViewerOrigin } from './viewer-origin.js';
import { VIEWER_LABEL } from './viewer-label.js';
import { ViewerServer } from './viewer-server.js';
import { ViewerSessions } from './viewer-sessions.js';
import { ViewerSockets } from './viewer-sockets.js';

/** Below a session's secret: the page, what it reads, and its socket. */
const SESSION_PATH = /^\/v\/([A-Za-z0-9_-]{43})\/(session|socket)?$/;
const METHODS: ReadonlySet<string> = new Set(['GET', 'HEAD']);

/** Takes the requests to the origin of viewers out of the pipeline, before a route is looked for. */
@Injectable()
export class ViewerHook {
  constructor(
    private readonly server: ViewerServer,
    private readonly origin: ViewerOrigin,
    private readonly sessions: ViewerSessions,
    private readonly sockets: ViewerSockets,
  ) {}

  /** Tells the hooks after it which requests are for viewers, whose URLs are secret. */
  addRecognition(server: HttpServer): void {
    server.addHook('onRequest', (request, _reply, done) => {
      if (this.server.received(request.raw)) request.appLabel = VIEWER_LABEL;
      done();
    });
  }

  addTo(server: HttpServer): void {
    server.addHook('onRequest', (request, reply, done) => {
      if (request.appLabel !== VIEWER_LABEL) return done();
      this.serve(request, reply).catch((error: Error) => done(error));
    });
  }

  private async serve(request: ApiRequest, reply: ApiReply): Promise<void> {
    const refusal = hostRefusal(request.raw);
    if (refusal !== undefined) throw refusal;
    if (!METHODS.has(request.method))
      throw new HttpRefusal(405, 'method_not_allowed', 'Viewers accept GET.', {}, { allow: 'GET, HEAD' });
    const path = pathOf(request);
    const asset = viewerFiles().assets.get(path);
    if (asset !== undefined) {
      await reply.type(asset.type).header('cache-control', 'public, max-age=3600').send(asset.content);
      return;
    }
    const [, secret, part] = SESSION_PATH.exec(path) ?? [];
    if (secret === undefined) throw unknownRoute();
    if (part === 'socket') return this.openSocket(request, reply, secret);
    const found = await this.sessions.find(secret);
    if (part === 'session') {
      if (found === undefined) throw sessionOver();
      await reply.send(found.session);
      return;
    }
    this.sendPage(request, reply, found === undefined ? 404 : 200);
  }

  private async openSocket(request: ApiRequest, reply: ApiReply, secret: string): Promise<void> {
    const { origin, host = '' } = request.headers;
    if (origin !== undefined && !this.origin.isOwn(origin, host))
      throw new HttpRefusal(403, 'foreign_origin', 'A page of another origin sent this request.');
    await this.sockets.open(request, reply, await this.sessions.find(secret));
  }

  /** The page alone may be embedded, so that it has none of the headers that forbid this for all other responses. */
  private sendPage(request: ApiRequest, reply: ApiReply, status: number): void {
    const { page } = viewerFiles();
    const { 'x-frame-options': _frames, ...fixed } = FIXED_HEADERS;
    reply.hijack();
    reply.raw.writeHead(status, {
      ...fixed,
      'content-security-policy': this.policy(),
      'content-type': 'text/html; charset=utf-8',
      'content-length': page.length,
      'x-request-id': request.id,
    });
    reply.raw.end(page);
  }

  private policy(): string {
    return [
      "default-src 'none'",
      "script-src 'self'",
      "style-src 'self'",
      "img-src 'self' data:",
      `connect-src 'self' ${this.origin.socketUrl}`,
      "base-uri 'none'",
      "form-action 'none'",
      `frame-ancestors ${this.origin.embedders.join(' ')}`,
    ].join('; ');
  }
}

const sessionOver = (): HttpRefusal =>
  new HttpRefusal(404, 'session_not_found', 'The viewer session is over, or never existed.');
