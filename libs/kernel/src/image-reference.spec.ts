import { describe, expect, it } from 'vitest';
import { formatImageReference, parseImageReference } from './image-reference.js';

const digest = `sha256:${'0a'.repeat(32)}`;

const complete = (text: string): string | undefined => {
  const reference = parseImageReference(text);
  return reference && formatImageReference(reference);
};

describe('the reference of an image', () => {
  it.each([
    ['debian', 'docker.io/library/debian:latest'],
    ['debian:12', 'docker.io/library/debian:12'],
    ['acme/app', 'docker.io/acme/app:latest'],
    ['index.docker.io/acme/app:1', 'docker.io/acme/app:1'],
    ['ghcr.io/acme/app:v1.2', 'ghcr.io/acme/app:v1.2'],
    ['GHCR.io/acme/app', 'ghcr.io/acme/app:latest'],
    ['localhost/app', 'localhost/app:latest'],
    ['localhost:5000/a/b/c:1', 'localhost:5000/a/b/c:1'],
    ['[::1]:5000/a:1', '[::1]:5000/a:1'],
    [`ghcr.io/acme/app@${digest}`, `ghcr.io/acme/app@${digest}`],
    [`ghcr.io/acme/app:v1@${digest}`, `ghcr.io/acme/app@${digest}`],
  ])('%s is completed to %s', (text, reference) => {
    expect(complete(text)).toBe(reference);
  });

  it.each([
    '',
    ' ',
    'Debian',
    'debian:',
    'debian:-1',
    `debian:${'a'.repeat(129)}`,
    'debian@sha256:12',
    `debian@${digest}@${digest}`,
    `debian@md5:${'0'.repeat(32)}`,
    'https://docker.io/library/debian',
    'ghcr.io//app',
    'ghcr.io/app/',
    '-evil.io/app',
    '--insecure',
    'user:password@ghcr.io/app',
    'app\n',
    'ä/ö',
    'a'.repeat(256),
    `${'a/'.repeat(1_999)}aa`,
  ])('%j is malformed', (text) => {
    expect(complete(text)).toBeUndefined();
  });
});
