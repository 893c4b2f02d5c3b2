import { isDomainError } from '@berth/kernel';
import { describe, expect, it } from 'vitest';
import { checkRepositoryUrl, isPublicAddress } from './repository-url.js';

const hosts = [
  { host: 'github.com', insecure: false },
  { host: 'git.acme.org:8443', insecure: false },
  { host: 'localhost:9443', insecure: true },
  { host: '10.0.0.7', insecure: true },
];
const refusalOf = (url: string, source: 'git' | 'github' = 'git'): string => {
  try {
    checkRepositoryUrl(url, source, hosts);
  } catch (error) {
    if (isDomainError(error)) return error.code;
  }
  return 'not refused';
};

describe("a repository's URL", () => {
  it.each([
    ['https://github.com/acme/bot', 'github.com', false],
    ['https://GitHub.com/acme/bot.git', 'github.com', false],
    ['https://github.com:443/acme/bot', 'github.com', false],
    ['https://git.acme.org:8443/bot', 'git.acme.org', false],
    ['https://localhost:9443/bot', 'localhost', true],
    ['http://localhost:9443/bot', 'localhost', true],
    ['http://10.0.0.7/bot', '10.0.0.7', true],
  ])('%s may be cloned', (url, host, insecure) => {
    expect(checkRepositoryUrl(url, 'git', hosts)).toMatchObject({ host, insecure });
  });

  it.each([
    ['text', 'no url'],
    ['another scheme', 'ssh://github.com/acme/bot'],
    ['the form of scp', 'git@github.com:acme/bot'],
    ['a file', 'file:///etc'],
    ['a helper of git', 'ext::sh -c id'],
    ['plain http', 'http://github.com/acme/bot'],
    ['a user', 'https://ann@github.com/acme/bot'],
    ['a password', 'https://ann:secret@github.com/acme/bot'],
    ['a query', 'https://github.com/acme/bot?token=x'],
    ['a fragment', 'https://github.com/acme/bot#x'],
    ['a host that is not allowed', 'https://gitlab.com/acme/bot'],
    ['a longer host', 'https://github.com.evil.org/acme/bot'],
    ['another port', 'https://github.com:8443/acme/bot'],
    ['the port of the scheme only', 'https://git.acme.org/bot'],
  ])('with %s is refused', (_, url) => expect(refusalOf(url)).toBe('repo_url_refused'));

  it('of the source github is on github.com', () => {
    expect(refusalOf('https://github.com/acme/bot', 'github')).toBe('not refused');
    expect(refusalOf('https://localhost:9443/bot', 'github')).toBe('repo_url_refused');
  });
});

describe('an address', () => {
  it.each(['140.82.121.4', '2606:50c0:8000::64'])('%s is public', (address) =>
    expect(isPublicAddress(address)).toBe(true),
  );

  it.each([
    '10.1.2.3',
    '172.16.0.1',
    '192.168.1.1',
    '127.0.0.1',
    '169.254.169.254',
    '100.64.0.1',
    '0.0.0.0',
    '224.0.0.1',
    '255.255.255.255',
    '::',
    '::1',
    'fe80::1',
    'fd00::1',
    'ff02::1',
    '::ffff:10.0.0.1',
    '::ffff:127.0.0.1',
    '64:ff9b::a00:1',
    '2002:a00:1::',
    'not an address',
  ])('%s is not', (address) => expect(isPublicAddress(address)).toBe(false));
});
