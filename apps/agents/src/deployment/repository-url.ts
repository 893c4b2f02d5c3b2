import type { AllowedHost } from '@berth/operator-file';
import { DomainError } from '@berth/kernel';
import ipaddr from 'ipaddr.js';

/** A repository's URL that Berth may clone from, if the addresses of its host may be reached. */
export interface RepositoryUrl {
  readonly url: string;
  /** Without port and brackets. */
  readonly host: string;
  /** Plain HTTP and private addresses are allowed. */
  readonly insecure: boolean;
}

/** Ports that a URL leaves out. */
const PORTS: Readonly<Record<string, string>> = { 'https:': '443', 'http:': '80' };

/** Errors: invalid `repo_url_refused`. */
export const checkRepositoryUrl = (
  text: string,
  source: 'github' | 'git',
  hosts: readonly AllowedHost[],
): RepositoryUrl => {
  const url = URL.parse(text);
  if (url === null || (url.protocol !== 'https:' && url.protocol !== 'http:'))
    throw refused('Give an https URL.');
  if (url.username !== '' || url.password !== '')
    throw refused('The URL must not contain a user or password; use tokenEnv.');
  if (url.search !== '' || url.hash !== '') throw refused('The URL must have no query and no fragment.');
  if (source === 'github' && url.host !== 'github.com')
    throw refused('A URL of the source github begins with https://github.com/.');
  const allowed = hosts.find((one) => isHostOf(url, one.host));
  if (allowed === undefined) throw refused('The operator does not allow repositories of this host.');
  if (url.protocol === 'http:' && !allowed.insecure) throw refused('Give an https URL.');
  const host = url.hostname.replace(/^\[|\]$/g, '');
  return { url: url.href, host, insecure: allowed.insecure };
};

const isHostOf = ({ hostname, port, protocol }: URL, allowed: string): boolean => {
  const given = `${hostname}:${port === '' ? (PORTS[protocol] ?? '') : port}`;
  // An entry without a port is for the port that the scheme implies.
  return given === allowed || given === `${allowed}:${PORTS[protocol] ?? ''}`;
};

/** Whether an address is on the public Internet, including an IPv4 address written as IPv6. */
export const isPublicAddress = (address: string): boolean =>
  ipaddr.isValid(address) && ipaddr.process(address).range() === 'unicast' && !isTranslated(address);

/** NAT64, 6to4 and the like carry an IPv4 address, which may be a private one. */
const isTranslated = (address: string): boolean => {
  const parsed = ipaddr.parse(address);
  return parsed.kind() === 'ipv6' && /^(64:ff9b:|2002:|2001:0?:)/.test(parsed.toString());
};

export const refused = (message: string): DomainError =>
  new DomainError('invalid', 'repo_url_refused', message);
