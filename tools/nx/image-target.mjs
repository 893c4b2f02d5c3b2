import { readFileSync } from 'node:fs';
import { join } from 'node:path';

export const name = 'berth-image-target';

/** Adds the targets `image` and `deploy` to every app that docker-compose.yml runs, and `deploy` of all to `infra`. */
export const createNodesV2 = [
  'docker-compose.yml',
  (files, _options, { workspaceRoot }) =>
    files.map((file) => {
      const services = builtServices(readFileSync(join(workspaceRoot, file), 'utf8'));
      const apps = services.map((service) => [`apps/${service}`, appOf(service)]);
      return [file, { projects: Object.fromEntries([...apps, ['infra', INFRA]]) }];
    }),
];

/** The services that run an image of Berth; the command line uses the one of `gateway`. */
const builtServices = (text) => [
  ...new Set([...text.matchAll(/^ {4}image: berth\/([\w-]+):/gm)].map(([, service]) => service)),
];

/** What the images are made of besides the code of their service and what it imports. */
const SOURCES = [
  '{workspaceRoot}/.dockerignore',
  '{workspaceRoot}/LICENSE',
  '{workspaceRoot}/infra/images/**/*',
  '{workspaceRoot}/infra/templates/**/*',
  '{workspaceRoot}/package.json',
  '{workspaceRoot}/package-lock.json',
  '{workspaceRoot}/tools/bundle.mjs',
  '{workspaceRoot}/tsconfig.base.json',
  '{workspaceRoot}/tsconfig.json',
];

/** Programs that the image of a service runs besides it. Apps do not import each other. */
const MORE_PROGRAMS = { accounts: ['cli'], gateway: ['cli'], runtime: ['guest'] };

const appOf = (service) => ({
  implicitDependencies: MORE_PROGRAMS[service] ?? [],
  targets: {
    image: {
      executor: 'nx:run-commands',
      options: { command: `docker compose build ${service}`, cwd: '{workspaceRoot}' },
      inputs: ['default', '^default', ...SOURCES],
    },
    deploy: { ...deployOf(service), dependsOn: ['image'] },
  },
});

const deployOf = (service) => ({
  executor: 'nx:run-commands',
  options: { command: `node tools/deploy.mjs ${service}`.trim(), cwd: '{workspaceRoot}' },
});

/** Builds nothing: every image has the code of all services, so a build of all would replace services without a change. */
const INFRA = { name: 'infra', targets: { deploy: deployOf('') } };
