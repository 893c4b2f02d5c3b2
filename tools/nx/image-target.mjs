import { readFileSync } from 'node:fs';
import { join } from 'node:path';

export const name = 'berth-image-target';

/** Adds the targets `image` and `deploy` to every app that docker-compose.yml runs, and to `infra`, which runs them all. */
export const createNodesV2 = [
  'docker-compose.yml',
  (files, _options, { workspaceRoot }) =>
    files.map((file) => {
      const services = builtServices(readFileSync(join(workspaceRoot, file), 'utf8'));
      const apps = services.map((service) => [
        `apps/${service}`,
        // The images contain templates and an entry point from there.
        { implicitDependencies: ['infra'], targets: targetsOf(service) },
      ]);
      return [file, { projects: Object.fromEntries([...apps, ['infra', infraOf(services)]]) }];
    }),
];

/** The command line uses the image of a service. */
const builtServices = (text) => [
  ...new Set([...text.matchAll(/^ {4}image: berth\/(\w+):/gm)].map(([, service]) => service)),
];

const targetsOf = (service) => ({
  image: {
    executor: 'nx:run-commands',
    options: { command: `docker compose build ${service}`, cwd: '{workspaceRoot}' },
    inputs: ['default', '^default', '{workspaceRoot}/infra/images/**/*', '{workspaceRoot}/package-lock.json'],
  },
  deploy: deployOf(service, [{ target: 'image' }]),
});

const deployOf = (service, dependsOn) => ({
  executor: 'nx:run-commands',
  options: { command: `node tools/deploy.mjs ${service}`.trim(), cwd: '{workspaceRoot}' },
  dependsOn,
});

const infraOf = (services) => ({
  name: 'infra',
  targets: { deploy: deployOf('', [{ target: 'image', projects: services }]) },
});
