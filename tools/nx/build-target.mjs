import { dirname } from 'node:path';

export const name = 'berth-build-target';

/** Every package with a tsconfig.json is built by `tsc -b`, so that no package.json has to say so. */
export const createNodesV2 = [
  '{apps,libs}/**/tsconfig.json',
  (files) => files.map((file) => [file, { projects: { [dirname(file)]: { targets: { build: BUILD } } } }]),
];

const BUILD = {
  executor: 'nx:run-commands',
  options: { command: 'tsc -b', cwd: '{projectRoot}' },
  inputs: [
    'default',
    '^default',
    '{workspaceRoot}/tsconfig.base.json',
    { externalDependencies: ['typescript'] },
  ],
  outputs: ['{projectRoot}/dist'],
};
