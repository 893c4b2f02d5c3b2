import { existsSync, globSync, readFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';

export const name = 'berth-project-targets';

/**
 * Adds the targets `build`, `typecheck`, `lint`, `test` and `e2e` to every package, and those but `build` to the tools, so
 * that no package.json has to declare them. What a test reads outside its package is found in the text of its sources: the
 * files that they name, and the programs that they start.
 */
export const createNodesV2 = [
  '{{apps,libs}/**/tsconfig.json,tools/test.mjs}',
  (files, _options, { workspaceRoot }) =>
    files.map((file) => [
      file,
      { projects: { [dirname(file)]: projectOf(workspaceRoot, dirname(file), basename(file)) } },
    ]),
];

/** Their sources name files of every package. Their tests read what the generator of services reads, and the Python client. */
const TOOLS = {
  name: 'tools',
  implicitDependencies: ['contracts', 'gateway', 'service'],
  namedInputs: {
    read: [
      '{workspaceRoot}/.oxlintrc.json',
      '{workspaceRoot}/apps/audit/src/audit-list/audited-events.spec.ts',
      '{workspaceRoot}/docker-compose.yml',
      '{workspaceRoot}/libs/client-python/**/*',
    ],
  },
};

const projectOf = (workspace, root, marker) => {
  const isPackage = marker === 'tsconfig.json';
  const sources = sourcesOf(workspace, root);
  const imported = sources.filter(({ path }) => !SPEC.test(path));
  const has = (kind) => sources.some(({ path }) => kind.test(path));
  const outside = {
    implicitDependencies: programsOf(workspace, sources, basename(root)),
    namedInputs: {
      read: outsideOf(workspace, sources, root),
      readByDependants: outsideOf(workspace, imported, root),
    },
  };
  return {
    ...(isPackage ? outside : TOOLS),
    targets: {
      ...(isPackage ? { build: BUILD, typecheck: TYPECHECK } : {}),
      lint: { ...lintOf(root), ...(isPackage ? { dependsOn: ['build'] } : {}) },
      ...(has(/\.(int-)?spec\.ts$/)
        ? { test: testOf(workspace, root, "'--project=!e2e*' '--project=!long'") }
        : {}),
      ...(has(/\.e2e-spec\.ts$/) ? { e2e: testOf(workspace, root, "'--project=e2e*'", START) } : {}),
    },
  };
};

const SPEC = /\.[\w-]*spec\.ts$/;

const sourcesOf = (workspace, root) =>
  globSync(`${root}/**/*.{ts,mjs}`, {
    cwd: workspace,
    exclude: ['**/node_modules/**', '**/dist/**', '**/*.bundle.mjs'],
  })
    .toSorted()
    .map((path) => ({ path, text: readFileSync(join(workspace, path), 'utf8') }));

/** A program that a test starts by the name of its package. */
const PROGRAM = /programArguments\('([\w-]+)'\)|'@berth\/([\w-]+)\/main'/g;

/** The packages whose programs these sources start, besides their own. */
const programsOf = (workspace, sources, own) => {
  const named = sources.flatMap(({ text }) =>
    [...text.matchAll(PROGRAM)].map(([, one, other]) => one ?? other),
  );
  return [...new Set(named)].filter((app) => app !== own && existsSync(join(workspace, 'apps', app)));
};

/** A path from the root of the repository: at the start of a string, or after the last `../` of a relative one. */
const PATH = /(?<=['"]|\.\.\/)(?:docs\/|(?:apps|infra|libs|tools)\/\w|docker-compose\.yml)[\w./-]*/g;

/** The files and folders outside the package that these sources name, as inputs. */
const outsideOf = (workspace, sources, root) => {
  const named = sources.flatMap(({ text }) => text.match(PATH) ?? []).map((path) => path.replace(/\/$/, ''));
  return [...new Set(named)]
    .filter((path) => !`${path}/`.startsWith(`${root}/`) && !/\/dist(\/|$)/.test(path))
    .filter((path) => existsSync(join(workspace, path)))
    .toSorted()
    .flatMap((path) => [`{workspaceRoot}/${path}`, `{workspaceRoot}/${path}/**/*`]);
};

/** Never two at a time, because each also builds what it refers to; tsc knows itself what is up to date. */
const TSC = {
  executor: 'nx:run-commands',
  options: { command: 'tsc -b', cwd: '{projectRoot}' },
  parallelism: false,
};

/** Not from a cache, which would put an older folder in the place of `dist`, and with it other bundles. */
const BUILD = { ...TSC, cache: false };

const TYPECHECK = {
  ...TSC,
  cache: true,
  inputs: ['default', '^production', '{workspaceRoot}/tsconfig.base.json'],
};

const lintOf = (root) => ({
  executor: 'nx:run-commands',
  options: { command: `oxlint --type-aware ${root}`, cwd: '{workspaceRoot}' },
  cache: true,
  inputs: ['default', '^production', '{workspaceRoot}/.oxlintrc.json', '{workspaceRoot}/tsconfig.base.json'],
});

/** What runs the tests. The last two are named, not imported. */
const RUNNERS = ['tools/test.mjs', 'tools/end-of-run.reporter.mjs', 'tools/suite-costs/file-costs.setup.mjs'];

/** These modules, as far as they exist, and those that they import. */
const modulesOf = (workspace, paths) => {
  const found = new Set(paths.filter((path) => existsSync(join(workspace, path))));
  for (const path of found) {
    const text = readFileSync(join(workspace, path), 'utf8');
    for (const [, name] of text.matchAll(/from '(\.[^']+)'/g)) found.add(join(dirname(path), name));
  }
  return [...found].toSorted();
};

/** Builds first. Takes all processors, so nothing runs beside it. As root, tests do more than as another user. */
const testOf = (workspace, root, projects, inputs = []) => ({
  executor: 'nx:run-commands',
  options: { command: `node tools/test.mjs ${projects} ${root}/`, cwd: '{workspaceRoot}' },
  cache: true,
  parallelism: false,
  inputs: [
    'tested',
    '^production',
    'read',
    '^readByDependants',
    ...modulesOf(workspace, RUNNERS).map((path) => `{workspaceRoot}/${path}`),
    { runtime: 'id -u' },
    '{workspaceRoot}/tsconfig.base.json',
    '{workspaceRoot}/vitest.config.ts',
    ...inputs,
  ],
});

/** What `npm start` runs. */
const START = ['{workspaceRoot}/package.json', '{workspaceRoot}/tools/*.mjs'];
