import { SECRET_PREFIXES } from '@berth/kernel';

const REDACTED = '[redacted]';
const MAX_DEPTH = 6;
const MAX_ENTRIES = 200;

/** Names of members that hold a secret, compared without case, `-` and `_`. */
const SECRET_NAMES = [
  'authorization',
  'proxyauthorization',
  'cookie',
  'setcookie',
  'token',
  'accesstoken',
  'apikey',
  'xapikey',
  'secret',
  'clientsecret',
  'password',
  'ticket',
] as const;

/** Too common a name to redact in a line that is already serialised. */
const OBJECT_SECRET_NAMES: ReadonlySet<string> = new Set([...SECRET_NAMES, 'key']);

const PREFIXES = Object.values(SECRET_PREFIXES).join('|');

/** Word boundaries that end in a letter or a digit: escape sequences of JSON, URLs and terminal colours. */
const ESCAPES = String.raw`\\[bfnrt]|\\u[\dA-Fa-f]{4}|%[\dA-Fa-f]{2}|\[[\d;]*m`;
const BEGIN = String.raw`(?:\b|(?<=${ESCAPES}))`;

/** `?token=…`, `Bearer …`, Berth's own secrets by their prefix, and credentials inside URLs, anywhere in a text. */
const SECRET_TEXTS: readonly (readonly [pattern: RegExp, replacement: string])[] = [
  [
    new RegExp(String.raw`((?:^|[?&;\s"']|${ESCAPES})(?:access_)?token=)[^&\s"'\\#;]+`, 'gi'),
    `$1${REDACTED}`,
  ],
  [new RegExp(String.raw`${BEGIN}(bearer|basic)\s+[a-z0-9._~+/=-]{6,}`, 'gi'), `$1 ${REDACTED}`],
  [new RegExp(`${BEGIN}(${PREFIXES})_[\\w-]{20,}`, 'g'), `$1_${REDACTED}`],
  // After an underscore, as in KEY_, there is no word boundary; fewer than 20 letters and digits there are part of a name.
  [new RegExp(`(?<=_)(${PREFIXES})_[A-Za-z0-9]{20,}[\\w-]*`, 'g'), `$1_${REDACTED}`],
  // Up to the last @ before a path: a password may contain an @, and a list of servers contains several.
  [/\b([a-z][a-z0-9+.-]*:\/\/[^/\s:@"']*):[^/\s"']+@/gi, `$1:${REDACTED}@`],
  // A NATS token is the only thing before the @.
  [new RegExp(String.raw`${BEGIN}((?:nats|tls|wss?)://)[^/\s:@"']+@`, 'gi'), `$1${REDACTED}@`],
];

/** Returns the text without the secrets that are recognised by their form. */
export const redactText = (text: string): string => {
  let clean = text;
  for (const [pattern, replacement] of SECRET_TEXTS) clean = clean.replace(pattern, replacement);
  return clean;
};

/** The same for a whole JSON line: it contains the child logger's bindings, which did not pass through `redact`. */
export const redactLine = (line: string): string =>
  redactText(line).replace(SECRET_MEMBER, `"$1":"${REDACTED}"`);

const SECRET_MEMBER = new RegExp(
  `"(${SECRET_NAMES.map((name) => [...name].join('[-_]?')).join('|')})":"(?:[^"\\\\]|\\\\.)*"`,
  'gi',
);

/**
 * Returns a copy that is safe to log: replaces members with names of secrets at any depth, and the `value` of a
 * variable (`{key, value, isSecret}`) unless it is marked as public. Errors keep type, message, code, stack and cause
 * only, because drivers attach statements and parameters to theirs.
 */
export const redact = (value: unknown, depth = 0): unknown => {
  if (typeof value === 'bigint') return value.toString();
  if (typeof value !== 'object' || value === null) return value;
  if (value instanceof Date) return value;
  if (value instanceof Error) return redactError(value, depth);
  if (depth >= MAX_DEPTH) return '[deep]';
  if (ArrayBuffer.isView(value)) return `[${value.byteLength} bytes]`;
  if (Array.isArray(value)) return value.slice(0, MAX_ENTRIES).map((item) => redact(item, depth + 1));
  return redactMembers(value, depth);
};

const redactMembers = (value: object, depth: number): Record<string, unknown> => {
  const isVariable = 'value' in value && 'key' in value;
  const isPublic = 'isSecret' in value && value.isSecret === false;
  const clean: Record<string, unknown> = {};
  for (const [name, member] of Object.entries(value).slice(0, MAX_ENTRIES)) {
    if (isVariable && name === 'key') clean[name] = redact(member, depth + 1);
    else if (isVariable && name === 'value') clean[name] = isPublic ? redact(member, depth + 1) : REDACTED;
    else if (isSecretName(name) && member !== null && member !== undefined) clean[name] = REDACTED;
    else clean[name] = redact(member, depth + 1);
  }
  return clean;
};

const isSecretName = (name: string): boolean =>
  OBJECT_SECRET_NAMES.has(name.toLowerCase().replaceAll(/[-_]/g, ''));

const redactError = (error: Error, depth: number): Record<string, unknown> => ({
  type: error.name,
  message: error.message,
  ...('code' in error && (typeof error.code === 'string' || typeof error.code === 'number')
    ? { code: error.code }
    : {}),
  ...(error.stack === undefined ? {} : { stack: error.stack }),
  ...(error.cause === undefined || depth >= MAX_DEPTH ? {} : { cause: redact(error.cause, depth + 1) }),
});
