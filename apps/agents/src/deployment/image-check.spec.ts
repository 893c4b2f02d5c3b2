import { describe, expect, it } from 'vitest';
import { checkImage } from './image-check.js';

const registries = [
  { host: 'docker.io', insecure: false },
  { host: 'registry.example:5000', insecure: true },
];
const digest = `sha256:${'0a'.repeat(32)}`;

const refusalOf = (image: string): unknown => {
  try {
    return checkImage(image, registries);
  } catch (error) {
    return error;
  }
};

describe('an image that is deployed', () => {
  it.each([
    ['debian', 'docker.io/library/debian:latest', false],
    ['docker.io:443/acme/app:1', 'docker.io:443/acme/app:1', false],
    [`acme/app:1@${digest}`, `docker.io/acme/app@${digest}`, false],
    ['registry.example:5000/app:1', 'registry.example:5000/app:1', true],
  ])('%s of an allowed registry is %s', (image, complete, insecure) => {
    expect(checkImage(image, registries)).toEqual({ kind: 'image', image: complete, insecure });
  });

  it.each(['ghcr.io/acme/app', 'registry.example/app', 'registry.example:5001/app', 'localhost/app'])(
    '%s of another registry is image_refused',
    (image) => expect(refusalOf(image)).toMatchObject({ kind: 'invalid', code: 'image_refused' }),
  );

  it.each([
    'https://docker.io/debian',
    'Debian',
    'debian:',
    `debian@sha256:1`,
    `docker.io/${'a/'.repeat(1_990)}a`,
  ])('with a malformed reference is invalid_request', (image) =>
    expect(refusalOf(image)).toMatchObject({ kind: 'invalid', code: 'invalid_request' }),
  );
});
