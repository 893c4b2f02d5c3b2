import { posix } from 'node:path';
import { create } from 'content-disposition';
import { contentType } from 'mime-types';

const UNKNOWN_TYPE = 'application/octet-stream';
/** Headers of the host that describe the file; callers get no others. */
const OF_THE_FILE = ['content-length', 'content-range', 'etag', 'last-modified', 'accept-ranges'] as const;

/** Headers of the caller's request that are passed on to the host. */
const OF_THE_CALLER = ['range', 'if-range', 'if-none-match'] as const;

type Headers = Readonly<Record<string, string | string[] | undefined>>;

export const wishesOf = (headers: Headers): Readonly<Record<string, string>> => pick(headers, OF_THE_CALLER);

export const factsOf = (headers: Headers): Readonly<Record<string, string>> => pick(headers, OF_THE_FILE);

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
