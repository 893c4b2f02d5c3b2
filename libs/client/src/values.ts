/** A value of a query. Lists repeat their parameter; what is null or undefined is not sent. */
export type QueryValue = string | number | boolean | Date | null | undefined | readonly (string | number)[];
/** The parameters of a query. */
export type Query = Readonly<Record<string, QueryValue>>;
/** A path of a file. Bytes name a file whose name is no UTF-8. */
export type FilePath = string | Uint8Array;
/** Headers: an object, pairs, or a `Headers`. What is undefined is not sent. */
export type HeaderFields =
  | Headers
  | Readonly<Record<string, string | undefined>>
  | readonly (readonly [string, string])[];
/** A moment: ISO 8601, or a `Date`. */
export type Moment = string | Date;

/** A path whose ids are encoded, each as one segment. */
export const route = (texts: TemplateStringsArray, ...ids: readonly string[]): string =>
  texts.reduce((path, text, index) => `${path}${segment(ids[index - 1])}${text}`);

const segment = (id: string | undefined): string => {
  if (typeof id !== 'string' || id === '' || id === '.' || id === '..')
    throw new TypeError(`An id must be a string, not empty, '.' or '..'.`);
  return encoded(id);
};

const encoded = (text: string): string => {
  try {
    return encodeURIComponent(text);
  } catch (cause) {
    throw new TypeError('A lone surrogate cannot be sent.', { cause });
  }
};

/** Checks the path of a request that the caller wrote: it stays below the base URL. */
export const plainPath = (path: string): string => {
  if (typeof path !== 'string' || !/^\/(?![/\\])[^\s#\\]*$/.test(path))
    throw new TypeError("The path must begin with one '/', and contain no white space, '#' or '\\'.");
  const [way = ''] = path.split('?');
  if (way.split('/').some((one) => /^(\.|%2e){1,2}$/i.test(one)))
    throw new TypeError("The path must not contain the segments '.' and '..'.");
  return path;
};

/** A query with its `?`; empty if nothing is to be sent. */
export const queryString = (query: Query = {}): string => {
  const pairs = Object.entries(query).flatMap(([name, value]) =>
    (Array.isArray(value) ? (value as readonly QueryValue[]) : [value as QueryValue])
      .filter((one) => one !== undefined && one !== null)
      .map((one) => `${encoded(name)}=${encoded(queryText(name, one))}`),
  );
  return pairs.length === 0 ? '' : `?${pairs.join('&')}`;
};

const queryText = (name: string, value: QueryValue): string => {
  if (value instanceof Date && !Number.isNaN(value.getTime())) return value.toISOString();
  if (typeof value === 'string' || typeof value === 'boolean' || Number.isFinite(value)) return String(value);
  throw new TypeError(`${name} cannot be sent in a query.`);
};

/** Writes a value as JSON. Throws a TypeError for what JSON lacks, instead of leaving it out or writing null. */
export const jsonText = (value: unknown): string => {
  const text = JSON.stringify(value, function (this: Record<string, unknown>, name, written: unknown) {
    const given = this[name];
    const lacks = typeof written === 'function' || typeof written === 'symbol';
    if (lacks || (typeof written === 'number' && !Number.isFinite(written)) || isInvalidDate(given))
      throw new TypeError(`${name || 'The body'} cannot be sent as JSON.`);
    return written;
  }) as string | undefined;
  if (text === undefined) throw new TypeError('The body cannot be sent as JSON.');
  return text;
};

const isInvalidDate = (value: unknown): boolean => value instanceof Date && Number.isNaN(value.getTime());

/** Checks headers of the caller. */
export const headersOf = (given: HeaderFields | undefined): Headers => {
  if (given === undefined || given === null) return new Headers();
  if (given instanceof Headers || Array.isArray(given))
    return new Headers(given as Headers | [string, string][]);
  if (typeof given !== 'object') throw new TypeError('headers must be an object.');
  const present = Object.entries(given).filter(([, value]) => value !== undefined && value !== null);
  return new Headers(present as [string, string][]);
};

/** Checks a number greater than 0; Infinity is one. */
export const positiveOf = (given: number | undefined | null, name: string): number | undefined => {
  if (given === undefined || given === null) return undefined;
  if (typeof given !== 'number' || !(given > 0))
    throw new TypeError(`${name} must be a number greater than 0.`);
  return given;
};

/** Checks an argument that must be text. */
export const textOf = (given: string, name: string): string => {
  if (typeof given !== 'string') throw new TypeError(`${name} must be a string.`);
  return given;
};

/** The member that names a file: `path`, or `pathBase64` for bytes. `name` is its name with text. */
export const pathMember = (path: FilePath, name = 'path'): Record<string, string> => {
  if (path instanceof Uint8Array && path.length > 0) return { [`${name}Base64`]: base64(path) };
  if (typeof path !== 'string' || path === '')
    throw new TypeError(`${name} must be a string, and not empty.`);
  return { [name]: path };
};

/** Bytes as base64. */
export const base64 = (bytes: Uint8Array): string =>
  btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(''));
