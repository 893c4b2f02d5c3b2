/** How a request announces and sends its body. */
export interface Framing {
  readonly name: string;
  readonly method: string;
  readonly version?: '1.0';
  /** The headers that announce the body. */
  readonly headers: readonly string[];
  /** The bytes after the headers. */
  readonly sent: string;
  /** The body that these bytes are. */
  readonly body: string;
}

/** Every body is a whole request, which must never be read as one. */
export const BODY = 'POST /smuggled HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n';

const LENGTH = `Content-Length: ${String(BODY.length)}`;
const CHUNKED = 'Transfer-Encoding: chunked';
const SIZE = BODY.length.toString(16);
const CHUNKS = `${SIZE}\r\n${BODY}\r\n0\r\n\r\n`;

const framing = (
  name: string,
  method: string,
  headers: readonly string[],
  sent: string,
  body = sent === '' ? '' : BODY,
): Framing => ({ name, method, headers, sent, body });

const anyMethod = ['POST', 'GET', 'HEAD', 'DELETE', 'OPTIONS'].flatMap((method) => [
  framing(`${method} with a length`, method, [LENGTH], BODY),
  framing(`${method} in chunks`, method, [CHUNKED], CHUNKS),
  framing(`${method} with neither`, method, [], ''),
  framing(`${method} with a length of 0`, method, ['Content-Length: 0'], ''),
]);

/** Framings that RFC 9112 permits. */
export const FORWARDED: readonly Framing[] = [
  ...anyMethod,
  framing('no chunks', 'GET', [CHUNKED], '0\r\n\r\n', ''),
  framing('chunks in another spelling', 'POST', ['transfer-encoding:\tCHUNKED '], CHUNKS),
  framing('a length with zeros before it', 'POST', [LENGTH.replace(': ', ': 00')], BODY),
  framing('Connection names the length', 'GET', ['Connection: keep-alive, Content-Length', LENGTH], BODY),
  framing('Connection names the chunks', 'GET', ['Connection: Transfer-Encoding', CHUNKED], CHUNKS),
  framing(
    'several chunks',
    'GET',
    [CHUNKED],
    `1\r\nP\r\n${(BODY.length - 1).toString(16)}\r\n${BODY.slice(1)}\r\n0\r\n\r\n`,
  ),
  framing(
    'sizes with zeros and capitals',
    'GET',
    [CHUNKED],
    `000${SIZE.toUpperCase()}\r\n${BODY}\r\n000\r\n\r\n`,
  ),
  framing('chunk extensions', 'GET', [CHUNKED], `${SIZE};a=b;c="d"\r\n${BODY}\r\n0;e\r\n\r\n`),
  framing('trailers', 'POST', [CHUNKED, 'Trailer: X-Sum'], `${SIZE}\r\n${BODY}\r\n0\r\nX-Sum: 7\r\n\r\n`),
  framing(
    'trailers that route or announce',
    'POST',
    [CHUNKED],
    `${SIZE}\r\n${BODY}\r\n0\r\nX-Sum: 7\r\nHost: y\r\nTE: gzip\r\nTrailer: a\r\n\r\n`,
  ),
];

const lengthOf = (value: string): readonly string[] => [`Content-Length: ${value}`];
const codingOf = (value: string): readonly string[] => [`Transfer-Encoding: ${value}`];
const size = String(BODY.length);

const refused = (name: string, headers: readonly string[], sent = BODY): Framing =>
  framing(name, 'POST', headers, sent);

/** Framings that servers read differently, or that are none. */
export const REFUSED: readonly Framing[] = [
  refused('a length, then chunks', [LENGTH, CHUNKED], CHUNKS),
  refused('chunks, then a length', [CHUNKED, LENGTH], CHUNKS),
  refused('two lengths', [LENGTH, 'Content-Length: 0']),
  refused('the same length twice', [LENGTH, LENGTH]),
  refused('a list of lengths', lengthOf(`${size}, ${size}`)),
  refused('a length with a plus sign', lengthOf(`+${size}`)),
  refused('a negative length', lengthOf(`-${size}`)),
  refused('a hexadecimal length', lengthOf(`0x${SIZE}`)),
  refused('a length in two parts', lengthOf('5 9')),
  refused('an empty length', lengthOf('')),
  refused('a length without end', lengthOf('9'.repeat(40))),
  refused('a coding before the chunks', codingOf('gzip, chunked'), CHUNKS),
  refused('a coding before the chunks, in a header of its own', [...codingOf('gzip'), CHUNKED], CHUNKS),
  refused('a coding after the chunks', codingOf('chunked, gzip'), CHUNKS),
  refused('another coding', codingOf('gzip')),
  refused('no coding', codingOf('identity')),
  refused('an empty coding', codingOf('')),
  refused('a coding that looks like chunks', codingOf('xchunked'), CHUNKS),
  refused('chunks with a parameter', codingOf('chunked;a=b'), CHUNKS),
  refused('chunks twice', [CHUNKED, CHUNKED], CHUNKS),
  refused('chunks behind a folded line', ['Transfer-Encoding:', ' chunked'], CHUNKS),
  refused('a header that hides another in a folded line', [LENGTH, 'X-A: b', ' Transfer-Encoding: chunked']),
  refused('a space before the colon', ['Transfer-Encoding : chunked'], CHUNKS),
  refused('a control character in the coding', codingOf('\vchunked'), CHUNKS),
  refused('lines that end without a carriage return', [`X-A: b\n${CHUNKED}`], CHUNKS),
  refused('a carriage return in a line', [`X-A: b\r${CHUNKED}`], CHUNKS),
  refused('a size that is none', [CHUNKED], `zz\r\n${BODY}\r\n0\r\n\r\n`),
  refused('a size with a plus sign', [CHUNKED], `+${CHUNKS}`),
  refused('a size beyond all', [CHUNKED], `${'f'.repeat(20)}\r\n${BODY}\r\n0\r\n\r\n`),
  refused('a chunk that is longer than its size', [CHUNKED], `1\r\n${BODY}\r\n0\r\n\r\n`),
  refused('chunk lines that end without a carriage return', [CHUNKED], CHUNKS.replaceAll('\r\n', '\n')),
  refused('an expectation that nobody meets', [LENGTH, 'Expect: tea']),
  refused('two expectations', [LENGTH, 'Expect: 100-continue, tea']),
  { ...refused('chunks in HTTP/1.0', [CHUNKED], CHUNKS), version: '1.0' },
];
