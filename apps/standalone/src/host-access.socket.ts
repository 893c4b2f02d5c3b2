import type { IncomingMessage, ServerResponse } from 'node:http';
import { join } from 'node:path';
import { json } from 'node:stream/consumers';
import { detach } from '@berth/kernel';
import { HOST_ACCESS_SOCKET, HOST_NAME } from '@berth/contracts/operations';
import type { HostAccess } from '@berth/embedded';
import { servePrivately, type PrivateServer } from '@berth/sockets';
import type { Logger } from '@berth/telemetry';

/**
 * Serves `POST /hosts` and `DELETE /hosts/{id}` on a Unix socket in the data folder: adds a broker user for a host, and
 * revokes it. Logs a warning if the socket cannot be opened; everything else works without it.
 */
export const serveHostAccess = async (
  dataDir: string,
  access: HostAccess,
  log: Logger,
): Promise<PrivateServer | undefined> => {
  const path = join(dataDir, HOST_ACCESS_SOCKET);
  try {
    return await servePrivately(path, (request, response) => detach(respond(request, response, access, log)));
  } catch (error) {
    log.warn({ err: error, path }, '`berth hosts add` does not work on this host');
    return undefined;
  }
};

const respond = async (
  request: IncomingMessage,
  response: ServerResponse,
  access: HostAccess,
  log: Logger,
): Promise<void> => {
  const send = (status: number, body?: object): void => {
    response.writeHead(status, { 'content-type': 'application/json' });
    response.end(body === undefined ? '' : JSON.stringify(body));
  };
  const refuse = (status: number, code: string, message: string): void =>
    send(status, { detail: { code, message } });
  try {
    const [, id] = /^\/hosts\/(hst_[0-9a-z]+)$/.exec(request.url ?? '') ?? [];
    if (request.method === 'DELETE' && id !== undefined) {
      const revoked = await access.revoke(id);
      if (revoked) log.warn({ host: id }, 'the credential of a host was revoked');
      return revoked ? send(204) : refuse(404, 'host_not_found', 'No credential was added for this host.');
    }
    if (request.method !== 'POST' || request.url !== '/hosts')
      return refuse(404, 'not_found', 'Send POST /hosts or DELETE /hosts/{id}.');
    const { name } = (await json(request)) as { readonly name?: unknown };
    if (typeof name !== 'string' || !HOST_NAME.test(name))
      return refuse(400, 'invalid_request', 'A name has 1 to 64 letters, digits and . _ -.');
    const added = await access.add(name);
    log.warn({ host: added.id, name }, 'a credential for a host was added');
    return send(201, added);
  } catch (error) {
    if (error instanceof SyntaxError) return refuse(400, 'invalid_request', 'Send a JSON body.');
    log.error({ err: error }, 'the credential of a host could not be changed');
    return refuse(500, 'internal_error', 'See the log of the service.');
  }
};
