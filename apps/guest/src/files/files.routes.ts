import { pipeline } from 'node:stream/promises';
import { GUEST_ROUTES } from '@berth/guest-protocol';
import type { Route } from '../server/guest-server.js';
import type { StreamExchange } from '../server/stream-route.js';
import { readCommand, readLimit, readStagedId, readWithin } from './file-requests.js';
import { serveFile } from './serve-file.js';
import type { VolumeFiles } from './volume-files.js';

/** The routes of the agent's files; `files` throws until the guest has its agent. */
export const fileRoutes = (files: () => VolumeFiles): readonly Route[] => [
  { ...GUEST_ROUTES.listFiles, stream: (exchange) => list(files(), exchange) },
  { ...GUEST_ROUTES.readFile, stream: (exchange) => read(files(), exchange) },
  { ...GUEST_ROUTES.stageFile, stream: (exchange) => stage(files(), exchange) },
  { ...GUEST_ROUTES.changeFile, handle: async ({ body }) => files().change(readCommand(body)) },
];

const list = (files: VolumeFiles, { query, response, gone }: StreamExchange): Promise<void> => {
  const write = async (text: AsyncIterable<string>): Promise<void> => {
    response.setHeader('content-type', 'application/json');
    await pipeline(text, response);
  };
  return files.list(query.get('path') ?? '', write, gone);
};

const read = (files: VolumeFiles, { query, request, response }: StreamExchange): Promise<void> => {
  const bounds = { within: readWithin(query), limitBytes: readLimit(query) };
  return files.read(query.get('path') ?? '', bounds, (opened) => serveFile(opened, request, response));
};

const stage = async (files: VolumeFiles, { query, request, response }: StreamExchange): Promise<void> => {
  // Keep the connection open after an early end of the body, because an error response uses it.
  const chunks = request.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>;
  const announcedBytes = Number(request.headers['content-length'] ?? 0);
  const arriving = { chunks, limitBytes: readLimit(query), announcedBytes };
  const staged = await files.stage(readStagedId(query), arriving);
  const text = JSON.stringify(staged);
  response.writeHead(200, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) });
  response.end(text);
};
