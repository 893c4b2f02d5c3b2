import type { IncomingMessage, ServerResponse } from 'node:http';
import { pipeline } from 'node:stream/promises';
import { parseRange } from './byte-range.js';
import { bytesOf, type OpenedFile } from './file-content.js';

const SECOND_MS = 1_000;

/**
 * Sends a file or a range of it (RFC 9110 §13, §14): 200, 206, 304 or 416. Breaks off if the file becomes too short.
 */
export const serveFile = async (
  opened: OpenedFile,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> => {
  const { file, size, etag, modifiedAt } = opened;
  response.setHeader('etag', etag);
  response.setHeader('last-modified', modifiedAt.toUTCString());
  response.setHeader('accept-ranges', 'bytes');
  if (isKnown(request.headers['if-none-match'], etag)) return void response.writeHead(304).end();
  const range = rangeOf(request, opened);
  if (range === 'unsatisfiable') {
    response.writeHead(416, { 'content-range': `bytes */${size}`, 'content-length': 0 }).end();
    return;
  }
  const { start, end } = range === 'all' ? { start: 0, end: size - 1 } : range;
  response.setHeader('content-type', 'application/octet-stream');
  response.setHeader('content-length', end - start + 1);
  if (range === 'all') response.writeHead(200);
  else response.writeHead(206, { 'content-range': `bytes ${start}-${end}/${size}` });
  if (request.method === 'HEAD' || end < start) return void response.end();
  await pipeline(bytesOf(file, start, end), response);
};

/** Ranges are defined for GET only. */
const rangeOf = ({ method, headers }: IncomingMessage, opened: OpenedFile): ReturnType<typeof parseRange> => {
  const ifRange = headers['if-range'];
  const wanted =
    method === 'GET' && (ifRange === undefined || isSame(ifRange.toString(), opened))
      ? headers.range
      : undefined;
  return parseRange(wanted, opened.size);
};

/**
 * A modification time is a safe validator only if it is more than a second old: a file can change twice within a
 * second.
 */
const isSame = (validator: string, { etag, modifiedAt }: OpenedFile): boolean =>
  validator === etag ||
  (validator === modifiedAt.toUTCString() && Date.now() - modifiedAt.getTime() > 2 * SECOND_MS);

const isKnown = (header: string | undefined, etag: string): boolean =>
  header !== undefined &&
  (header.trim() === '*' || header.split(',').some((tag) => tag.trim().replace(/^W\//, '') === etag));
