import { dirname } from 'node:path';

export const name = 'berth-build-target';

/** Adds a build target (`tsc -b`) to every package with a tsconfig.json, so that no package.json has to declare it. */
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
