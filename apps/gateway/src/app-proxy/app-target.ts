import { SECRET_PREFIXES } from '@berth/kernel';
import { hasForbiddenCredential, tokenIn, type Credential } from '../auth/credentials.js';

/** A request target, split into what decides about it. */
export interface AppTarget {
  /** What the program receives: path and query, unchanged. */
  readonly target: string;
  /** The authority of a target in absolute form. */
  readonly authority: string | undefined;
  /** The paths that a program may read from it: decoded, resolved, in lower case, without a slash at the end. */
  readonly paths: readonly string[];
  readonly query: URLSearchParams;
}

const ABSOLUTE = /^https?:\/\/([^/?#\\]*)/i;
const ESCAPE = /%([0-9a-f]{2})/gi;
const MOST_DECODINGS = 8;

/** The authority of a target in absolute form. */
export const authorityOf = (sent: string): string | undefined => ABSOLUTE.exec(sent)?.[1];

/** Parses the target of a request as it was sent. */
export const parseTarget = (sent: string): AppTarget => {
  const absolute = ABSOLUTE.exec(sent);
  const rest = absolute === null ? sent : sent.slice(absolute[0].length);
  const target = absolute === null || rest.startsWith('/') ? rest : `/${rest}`;
  const end = target.search(/[?#]/);
  const path = end === -1 ? target : target.slice(0, end);
  const query = target.slice(path.length).split('#', 1)[0] ?? '';
  const paths = [...new Set([path, ...asUrlParsersRead(target)].flatMap(pathsReadFrom))];
  return { target, authority: authorityOf(sent), paths, query: new URLSearchParams(query) };
};

/** Paths below this one belong to Berth. */
const OWN_PATH = '/.berth';
const ENTER_PATH = '/.berth/enter';

/** Whether Berth itself handles the target, and whether that is to open a session. */
export const ownPathOf = ({ paths }: AppTarget): 'enter' | 'unknown' | undefined => {
  if (!paths.some((path) => path === OWN_PATH || path.startsWith(`${OWN_PATH}/`))) return undefined;
  return paths.length === 1 && paths[0] === ENTER_PATH ? 'enter' : 'unknown';
};

const RESERVED: Readonly<Record<string, string>> = { POST: '/chat', GET: '/schedules', HEAD: '/schedules' };

/** Whether the request would reach a route of the program that is for Berth only. */
export const isReserved = (method: string, { paths }: AppTarget): boolean => {
  const reserved = RESERVED[method];
  return reserved !== undefined && paths.includes(reserved);
};

const OUR_SECRET = new RegExp(`^(?:${Object.values(SECRET_PREFIXES).join('|')})_`);

/** Whether a text has the form of a secret that Berth issues, valid or not. */
export const looksOurs = (text: string): boolean => OUR_SECRET.test(text);

/** Whether the query carries a credential of ours; a `token` of any other form belongs to the app. */
export const hasOurSecret = ({ query }: AppTarget): boolean => {
  if (query.getAll('token').some(looksOurs)) return true;
  return [...query].some(
    ([name, value]) => name !== 'token' && hasForbiddenCredential({ [name]: value }, false),
  );
};

/**
 * The token of an end user that `?token=` carries, and the target without it; undefined without one, or if there are
 * several.
 */
export const takeToken = (
  sent: AppTarget,
): { readonly token: Credential; readonly rest: AppTarget } | undefined => {
  const [text, ...more] = sent.query.getAll('token');
  const token = text === undefined || more.length > 0 ? undefined : tokenIn(text);
  if (token?.kind !== 'end_user') return undefined;
  const [, path = '', query = '', fragment = ''] = PARTS.exec(sent.target) ?? [];
  const kept = query.split('&').filter((pair) => !new URLSearchParams(pair).has('token'));
  const target = `${path}${kept.length === 0 ? '' : `?${kept.join('&')}`}${fragment}`;
  return { token, rest: { ...parseTarget(target), authority: sent.authority } };
};

const PARTS = /^([^?#]*)\?([^#]*)(.*)$/s;

/** `new URL(request.url, base)`, as many programs read it, takes two slashes at the beginning for a host. */
const asUrlParsersRead = (target: string): readonly string[] =>
  /^[/\\]{2}/.test(target) && URL.canParse(target, 'http://app')
    ? [new URL(target, 'http://app').pathname]
    : [];

/**
 * A program behind a proxy of its own may decode more than once, and one that resolves dot segments before it decodes
 * sees other segments: `/a%2Fb/../chat` is `/chat` to the URL parser of browsers.
 */
const pathsReadFrom = (path: string): readonly string[] => {
  const read: string[] = [];
  let text = path;
  for (let round = 0; round <= MOST_DECODINGS; round++) {
    for (const slashed of new Set([text, text.replaceAll('\\', '/')]))
      read.push(resolvedPath(slashed.replaceAll(/\/+/g, '/')), resolvedPath(slashed));
    const decoded = text.replace(ESCAPE, (_match, hex: string) =>
      String.fromCharCode(Number.parseInt(hex, 16)),
    );
    if (decoded === text) break;
    text = decoded;
  }
  return read;
};

/** To the URL parser of browsers an encoded dot is a dot, also where an encoded slash is none. */
const ONE_DOT = /^(?:\.|%2e)$/i;
const TWO_DOTS = /^(?:\.|%2e){2}$/i;

/** Case never tells two routes apart here. */
const resolvedPath = (path: string): string => {
  const segments: string[] = [];
  for (const segment of path.split('/').slice(path.startsWith('/') ? 1 : 0)) {
    if (TWO_DOTS.test(segment)) segments.pop();
    else if (!ONE_DOT.test(segment)) segments.push(segment);
  }
  return `/${segments.filter((segment) => segment !== '').join('/')}`.toLowerCase();
};
