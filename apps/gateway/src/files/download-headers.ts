import { posix } from 'node:path';
import { create } from 'content-disposition';
import { contentType } from 'mime-types';

const UNKNOWN_TYPE = 'application/octet-stream';
/** The only headers of the host's response that are passed on to the caller: those that describe the file. */
const FILE_HEADERS = ['content-length', 'content-range', 'etag', 'last-modified', 'accept-ranges'] as const;

/** Headers of the caller's request that are passed on to the host. */
const CONDITION_HEADERS = ['range', 'if-range', 'if-none-match'] as const;

type Headers = Readonly<Record<string, string | string[] | undefined>>;

export const conditionHeadersOf = (headers: Headers): Readonly<Record<string, string>> =>
  pick(headers, CONDITION_HEADERS);

export const fileHeadersOf = (headers: Headers): Readonly<Record<string, string>> =>
  pick(headers, FILE_HEADERS);

/** A file of an agent is untrusted: browsers must save it, and neither run it nor show it to a page. */
export const headersFor = (path: string): Readonly<Record<string, string>> => {
  const name = posix.basename(path);
  return {
    'content-type': contentType(posix.extname(name)) || UNKNOWN_TYPE,
    'content-disposition': create(name),
    'content-security-policy': 'sandbox',
    'cache-control': 'private, no-cache',
  };
};

const pick = (headers: Headers, names: readonly string[]): Readonly<Record<string, string>> => {
  const picked: Record<string, string> = {};
  for (const name of names) {
    const value = headers[name];
    if (typeof value === 'string') picked[name] = value;
  }
  return picked;
};
