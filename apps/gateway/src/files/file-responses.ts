import { Injectable } from '@nestjs/common';
import { CredentialWatch } from '../auth/credential-watch.js';
import type { ApiReply, ApiRequest } from '../http/fastify-types.js';
import { HttpRefusal } from '../http/http-refusal.js';
import { agentUnavailable } from '../http/transfer-refusal.js';
import { AgentTransfers, type TransferResponse } from './agent-transfer.js';
import type { Open } from '../hosts/fresh-ticket.js';
import { conditionHeadersOf, fileHeadersOf, headersFor } from './download-headers.js';
import { untilGone } from './until-gone.js';

const OK = 200;
const NOT_SATISFIABLE = 416;
const FILE_STATUSES: ReadonlySet<number> = new Set([OK, 206, 304]);

/** Responds with files and folders of agents and computers, whose bytes pass through. */
@Injectable()
export class FileResponses {
  constructor(
    private readonly transfers: AgentTransfers,
    private readonly credentials: CredentialWatch,
  ) {}

  /** Sends the entries of a folder. Errors: see `AgentTransfers.read`. */
  async sendList(reply: ApiReply, open: Open): Promise<void> {
    const { status, body } = await this.transfers.read(open, { method: 'GET', signal: untilGone(reply) });
    if (status !== OK) throw unexpectedResponse(status, body);
    await reply.header('content-type', 'application/json; charset=utf-8').send(body);
  }

  /** Sends the file, or what the request wants of it. Errors: see `AgentTransfers.read`; 416 `range_not_satisfiable`. */
  async sendFile(request: ApiRequest, reply: ApiReply, path: string, open: Open): Promise<void> {
    const method = request.method === 'HEAD' ? 'HEAD' : 'GET';
    const response = await this.transfers.read(open, {
      method,
      headers: conditionHeadersOf(request.headers),
      signal: untilGone(reply),
    });
    const { status, headers, body } = response;
    if (status === NOT_SATISFIABLE) throw notSatisfiable(response);
    if (!FILE_STATUSES.has(status)) throw unexpectedResponse(status, body);
    using _watched = this.credentials.whileLong(request, () => reply.raw.destroy());
    reply.code(status).headers(fileHeadersOf(headers)).headers(headersFor(path));
    await reply.send(body);
  }
}

/** The error of a response that no host of this release sends; discards its body. */
export const unexpectedResponse = (status: number, body: TransferResponse['body']): Error => {
  body.on('error', () => undefined).destroy();
  return agentUnavailable(new Error(`The host responded ${status}.`));
};

const notSatisfiable = ({ headers, body }: TransferResponse): HttpRefusal => {
  body.on('error', () => undefined).destroy();
  const range = headers['content-range'];
  return new HttpRefusal(
    NOT_SATISFIABLE,
    'range_not_satisfiable',
    'The file has no bytes in that range.',
    {},
    typeof range === 'string' ? { 'content-range': range } : {},
  );
};
