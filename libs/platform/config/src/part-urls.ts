import { resolve } from 'node:path';
import { isReadable } from './readable-file.js';

/** The variables with the URLs of the backing services. */
export type PartUrlName = 'NATS_URL' | 'EVENTSTORE_URL' | 'DATABASE_URL';

/**
 * Returns the problem with a value, as the rest of a sentence that begins with the variable's name; undefined for a
 * valid value.
 */
type Check = (url: string) => string | undefined;

/** Options of an event store URL with their valid values. Any other option is a typo, which the client would ignore. */
const EVENT_STORE_OPTIONS: ReadonlyMap<string, RegExp> = new Map([
  ['tls', /^(?:true|false)$/],
  ['tlscafile', /./],
  ['usercertfile', /./],
  ['userkeyfile', /./],
  ['nodepreference', /^(?:leader|follower|random|read[_-]?only[_-]?replica)$/i],
  ['maxdiscoverattempts', /^\d+$/],
  ['discoveryinterval', /^\d+$/],
  ['gossiptimeout', /^\d+$/],
  ['keepaliveinterval', /^(?:-1|\d+)$/],
  ['keepalivetimeout', /^(?:-1|\d+)$/],
  ['defaultdeadline', /^[1-9]\d*$/],
  ['connectionname', /./],
  ['throwonappendfailure', /^(?:true|false)$/],
]);

const EVENT_STORE_URL =
  /^esdb(?:\+discover)?:\/\/(?:(?<credentials>[^@/?]*)@)?(?<hosts>[^/?@]*)\/*(?:\?(?<query>.*))?$/;

const checkEventStoreUrl: Check = (url) => {
  const parts = EVENT_STORE_URL.exec(url)?.groups;
  if (parts === undefined) return 'must be a URL such as esdb://host:2113?tls=false';
  const { credentials, hosts = '', query = '' } = parts;
  if (credentials !== undefined && !isUserAndPassword(credentials))
    return 'must name its user as user:password@, with special characters percent-encoded';
  if (hosts.includes('[')) return 'must name hosts or IPv4 addresses: the client accepts no IPv6 addresses';
  const badHost = hosts.split(',').map(hostProblem).find(isText);
  if (badHost !== undefined) return badHost;
  const options = query.split('&').filter((option) => option !== '');
  const badOption = options.map(optionProblem).find(isText);
  if (badOption !== undefined) return badOption;
  const values = new Map(options.map(nameAndValue));
  if (values.get('tls') !== 'false' && credentials === undefined)
    return 'must name a user (esdb://user:password@host:2113), or set ?tls=false';
  return values.has('usercertfile') === values.has('userkeyfile')
    ? undefined
    : 'must name userCertFile and userKeyFile together';
};

/** Names of options are compared as the client compares them. */
const nameAndValue = (option: string): readonly [name: string, value: string] => {
  const [name = '', ...value] = option.split('=');
  return [name.toLowerCase().replaceAll(/[_-]/g, ''), value.join('=')];
};

const optionProblem = (option: string): string | undefined => {
  const [name, value] = nameAndValue(option);
  const pattern = EVENT_STORE_OPTIONS.get(name);
  // The name may be the rest of a password with an unescaped question mark, so the message contains it only if it is
  // known.
  if (pattern === undefined) return 'has an unknown option';
  const shownName = option.slice(0, option.indexOf('='));
  if (!pattern.test(value) || !isDecodable(value)) return `has an invalid value for the option ${shownName}`;
  return name.endsWith('file') && !isReadable(resolve(decodeURIComponent(value)))
    ? `must name a readable file in the option ${shownName}`
    : undefined;
};

const checkNatsUrl: Check = (url) => {
  const addresses = url.split(',').map((address) => address.trim());
  if (!/^(?:nats|tls):\/\//i.test(addresses[0] ?? ''))
    return 'must be a URL that begins with nats:// or tls://';
  return addresses.map(natsAddressProblem).find(isText);
};

const natsAddressProblem = (address: string): string | undefined => {
  const parts = /^(?:(?:nats|tls):\/\/)?(?:(?<credentials>[^@/]*)@)?(?<host>[^/@?]*)\/?$/i.exec(
    address,
  )?.groups;
  if (parts === undefined) return 'must list addresses such as nats://user:password@host:4222';
  const { credentials, host = '' } = parts;
  if (credentials !== undefined && (!/^[^:]/.test(credentials) || !isDecodable(credentials)))
    return 'must name its user as user:password@, with special characters percent-encoded';
  return hostProblem(host);
};

const checkDatabaseUrl: Check = (url) => {
  if (!/^postgres(?:ql)?:\/\//i.test(url))
    return 'must be a URL that begins with postgres:// or postgresql://';
  const parsed = URL.parse(url);
  if (parsed === null) return 'must be a URL such as postgres://user:password@host:5432/database';
  if (parsed.port === '0') return 'must have a port from 1 to 65535';
  // The client rewrites a URL with unescaped characters, and the result may be invalid.
  if (url.includes(' ') || !isDecodable(url)) return 'must have special characters percent-encoded';
  if (parsed.hostname === '' && !parsed.searchParams.has('host')) return 'must name a host';
  return undefined;
};

const hostProblem = (text: string): string | undefined => {
  const match = /^(?:\[[0-9a-f:.]+\]|(?<name>[\p{L}\p{N}._-]*))(?::(?<port>.*))?$/iu.exec(text);
  if (match === null || match.groups?.['name'] === '') return 'must name a host';
  const port = match.groups?.['port'];
  if (port === undefined) return undefined;
  const valid = /^\d{1,5}$/.test(port) && Number(port) >= 1 && Number(port) <= 65_535;
  return valid ? undefined : 'must have a port from 1 to 65535';
};

const isUserAndPassword = (credentials: string): boolean =>
  /^[^:]+:[^:]+$/.test(credentials) && isDecodable(credentials);

const isDecodable = (text: string): boolean => {
  try {
    decodeURIComponent(text);
    return true;
  } catch {
    return false;
  }
};

const isText = (problem: string | undefined): problem is string => problem !== undefined;

/**
 * Validates the URL of a backing service completely, so that a mistake is found before anything starts. Never repeats
 * the URL.
 */
export const PART_URL_CHECKS: Readonly<Record<PartUrlName, Check>> = {
  NATS_URL: checkNatsUrl,
  EVENTSTORE_URL: checkEventStoreUrl,
  DATABASE_URL: checkDatabaseUrl,
};

/**
 * Returns the hosts and ports of a URL, for messages: without credentials, paths and options. The credentials end at the
 * last `@` before path and options, and may contain commas and further `@`; only NATS has them at each address.
 */
export const addressOf = (url: string): string =>
  (/^(?:nats|tls):/i.test(url) ? url.split(',') : [url])
    .map((one) => /^(?:[a-z+]+:\/\/)?(?:[^/?#]*@)?([^/?#]*)/i.exec(one.trim())?.[1] ?? '')
    .join(',')
    .replaceAll(',', ', ');
