import type { Template } from '@berth/templates';
import { describe, expect, it } from 'vitest';
import type { BuiltVersion } from '../build/version-store.js';
import { StartCodes } from './start-codes.js';

const DEPLOYMENT = 'dep_01';
const REF = { version: 2, deploymentId: DEPLOYMENT };
const GIT = { kind: 'git', ...REF, repoUrl: 'https://git.test/a', branch: 'main', commit: 'c' } as const;
const IMAGE = { kind: 'image', ...REF, image: 'a@sha256:00' } as const;

const CONTAINER = {
  image: 'ghcr.io/acme/app:1',
  root: true,
  writableRoot: true,
  runtimeClass: 'kata',
  network: 'none',
  volumePath: '/data',
} as const;
const LASTING = { runtimeClass: 'kata', network: 'none', volumePath: '/data' };

const codesWith = (version: BuiltVersion): StartCodes =>
  new StartCodes(
    { get: (id) => (id === 'strict' ? ({ container: CONTAINER } as unknown as Template) : undefined) },
    { find: () => Promise.resolve(version), codeFolder: () => '/code' },
  );

describe('an agent that runs a deployed version', () => {
  it.each([
    ['repository', GIT, { start: 'node .', env: {} }, false],
    ['image', IMAGE, { image: 'a@sha256:00' }, true],
  ] as const)(
    'keeps the network, runtime class and volume of its template, not the rights of the template’s own program (%s)',
    async (_, source, version, writableRoot) => {
      const of = (templateId?: string) =>
        codesWith(version).of({
          agentId: 'agt_01',
          source,
          ...(templateId === undefined ? {} : { templateId }),
        });
      expect((await of('strict')).container).toEqual({ ...LASTING, root: false, writableRoot });
      const none = { runtimeClass: null, network: null, volumePath: null, root: false, writableRoot };
      expect((await of('removed')).container).toEqual(none);
      expect((await of()).container).toEqual(none);
    },
  );

  it('keeps the network and runtime class that its template had at its build when the operator removes the template', async () => {
    const codes = codesWith({ start: 'node .', env: {}, container: { ...LASTING, network: 'none' } });
    const code = await codes.of({ agentId: 'agt_01', source: GIT, templateId: 'removed' });
    expect(code.container).toEqual({ ...LASTING, root: false, writableRoot: false });
  });
});

describe('a computer', () => {
  it('has no code of its own, no program that its guest does not know, and the public network', async () => {
    const codes = codesWith({ start: 'node .', env: {} });
    expect(await codes.of({ agentId: 'cmp_01', source: { kind: 'desktop', version: 3 } })).toEqual({
      source: { kind: 'desktop', version: 3 },
      command: null,
      generation: 'current',
      env: {},
      container: { runtimeClass: null, network: null, volumePath: null, root: false, writableRoot: false },
    });
  });
});
