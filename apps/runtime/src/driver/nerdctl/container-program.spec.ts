import { describe, expect, it } from 'vitest';
import type { BoxSource } from '../box-spec.js';
import { userOf } from './container-program.js';

const image: BoxSource = { kind: 'image', version: 1, deploymentId: 'dpl_1', reference: 'example.test/app' };
const template: BoxSource = { kind: 'template', version: 1, name: 'app', folder: '/app', image: null };

describe('the user of a box', () => {
  it.each(['', 'root', '0', 'root:root', '0:0'])(
    'of an image whose USER is "%s" is root if the operator allows',
    (user) => {
      expect(userOf({ source: image, user: 'unprivileged' }, { user }, true)).toBe('root');
      expect(userOf({ source: image, user: 'unprivileged' }, { user }, false)).toBe('unprivileged');
    },
  );

  it.each(['app', '1000', '00x', 'rooty'])('of an image whose USER is "%s" is not root', (user) => {
    expect(userOf({ source: image, user: 'unprivileged' }, { user }, true)).toBe('unprivileged');
  });

  it('of a template is defined by the template, whatever its image and the operator’s settings for images', () => {
    expect(userOf({ source: template, user: 'unprivileged' }, { user: 'root' }, true)).toBe('unprivileged');
    expect(userOf({ source: template, user: 'root' }, { user: 'app' }, false)).toBe('root');
  });
});
