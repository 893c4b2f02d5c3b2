import { builtinModules } from 'node:module';
import { packageOf } from './workspace.mjs';

/** The package types that each type may import (types are the tags `type:…` in the package.json files). */
const MAY_IMPORT = {
  composition: ['app', 'contract', 'platform', 'kernel'],
  app: ['contract', 'platform', 'kernel'],
  platform: ['platform', 'kernel'],
  contract: ['kernel'],
  kernel: [],
  client: [],
};

/** The modules of a client library that import modules of Node; the others run in browsers too. */
const OF_NODE = /\/src\/node\.ts$/;

/** Platform packages that services must not import: test support, and the infrastructure that `npm start` embeds. */
const TEST_SUPPORT = '@berth/testing';
const EMBEDDED = '@berth/embedded';
/** Never shipped, and needs the same servers as tests. */
const BENCH = '@berth/bench';
/** Contracts that the platform implements or calls for every service, and bounds that are declared there. */
const USED_BY_PLATFORM = new Set([
  '@berth/operations → @berth/contracts/operations',
  '@berth/agent-client → @berth/contracts/agents',
  '@berth/agent-client → @berth/contracts/computers',
  '@berth/agent-client → @berth/contracts/hosting',
  '@berth/agent-client → @berth/contracts/runtime',
  '@berth/operator-file → @berth/contracts/accounts',
  '@berth/operator-file → @berth/contracts/schema',
  '@berth/personal-data → @berth/contracts/end-users',
]);

/** Checks which packages import each other, from the actual imports rather than the declared dependencies. */
export const checkImports = (workspace) => {
  const byName = new Map(workspace.packages.map((one) => [one.name, one]));
  const problems = [];
  let read = 0;
  for (const from of workspace.packages) {
    if (MAY_IMPORT[from.type] === undefined) {
      problems.push(
        `${from.dir}/package.json: nx.tags must name one of type:${Object.keys(MAY_IMPORT).join(', type:')}`,
      );
      continue;
    }
    for (const file of from.files) {
      for (const one of file.imports) {
        read++;
        const problem = judge(from, file, one, byName);
        if (problem !== null) problems.push(`${file.path}:${one.line}: ${problem}`);
      }
    }
  }
  return { problems, read };
};

/** Describes the shapes of requests and events. */
const SCHEMA_LIBRARY = 'typebox';
/** The folders of the contracts that every context may use, which use no context. */
const SHARED_CONTRACTS = ['schema', 'hosting'];

const judge = (from, file, { specifier }, byName) => {
  if (specifier.startsWith('.')) return judgeRelative(from, file, specifier);
  if (!specifier.startsWith('node:') && builtinModules.includes(specifier))
    return `write 'node:${specifier}'`;
  if (file.test) return null;
  if (from.type === 'kernel') return `the kernel imports nothing, not even '${specifier}'`;
  if (from.type === 'client' && !(OF_NODE.test(file.path) && specifier.startsWith('node:')))
    return `a client library imports nothing, not even '${specifier}'; src/node.ts may import modules of Node`;
  if (specifier.startsWith('node:')) return null;
  const name = packageOf(specifier);
  if (!name.startsWith('@berth/')) {
    return from.type === 'contract' && name !== SCHEMA_LIBRARY
      ? `a contract imports the kernel and ${SCHEMA_LIBRARY} only, not '${name}'`
      : null;
  }
  const to = byName.get(name);
  if (to === undefined) return `there is no package '${name}'`;
  if (!isExported(to, specifier)) return `'${specifier}' is not exported: import what '${name}' exports`;
  return judgeTypes(from, to, specifier);
};

/** Whether the `exports` of a package contain the specifier and the sources contain its index. */
const isExported = (to, specifier) => {
  const path = `.${specifier.slice(to.name.length)}`;
  const exported = Object.keys(to.manifest.exports ?? { '.': true });
  if (exported.includes(path)) return true;
  return (
    exported.includes('./*') &&
    to.files.some((file) => file.path === `${to.dir}/src${path.slice(1)}/index.ts`)
  );
};

const judgeTypes = (from, to, specifier) => {
  if (to.name === TEST_SUPPORT)
    return from.name === BENCH ? null : `only tests and the bench may import ${TEST_SUPPORT}`;
  if (to.name === EMBEDDED && from.type !== 'composition' && from.name !== TEST_SUPPORT) {
    return `only the composition and ${TEST_SUPPORT} may import ${EMBEDDED}: a service gets the URLs of its dependencies`;
  }
  if (USED_BY_PLATFORM.has(`${from.name} → ${specifier}`)) return null;
  if (MAY_IMPORT[from.type].includes(to.type)) return null;
  if (to.type === 'app')
    return `an app never imports an app (${to.name}): services depend on each other through contracts`;
  return `a ${from.type} may import ${MAY_IMPORT[from.type].join(', ')}, and ${to.name} is a ${to.type}`;
};

const judgeRelative = (from, file, specifier) => {
  const target = new URL(specifier, `file:///${file.path}`).pathname.slice(1);
  if (!target.startsWith(`${from.dir}/src/`))
    return `'${specifier}' leaves the package: import it by its name`;
  const [own, other] = [contextOf(from, file.path), contextOf(from, target)];
  if (from.manifest.exports?.['./*'] !== undefined && own !== other && !SHARED_CONTRACTS.includes(other))
    return `'${specifier}' leaves its context: contracts of different contexts do not import each other`;
  if (!/\.(js|json)$/.test(specifier)) return `'${specifier}' needs the extension .js`;
  return null;
};

/** The first folder below the sources of the contracts: a context, or one of `SHARED_CONTRACTS`. */
const contextOf = (contracts, path) => path.slice(`${contracts.dir}/src/`.length).split('/')[0];

/** Checks that imported packages are declared in the package.json, and that our own are project references too. */
export const checkDeclarations = ({ manifest, packages }) => {
  const byName = new Map(packages.map((one) => [one.name, one]));
  const shared = Object.keys(manifest.devDependencies ?? {});
  const problems = [];
  let read = 0;
  for (const one of packages) {
    const declared = declaredBy(one.manifest);
    for (const [name, file] of importedPackages(one)) {
      if (name === one.name) continue;
      read++;
      if (!declared.has(name) && !(file.test && shared.includes(name))) {
        problems.push(`${file.path} imports '${name}', which ${one.dir}/package.json does not declare`);
      }
      const ours = byName.get(name);
      if (ours !== undefined && !one.references.includes(ours.dir)) {
        problems.push(`${one.dir}/tsconfig.json: add a reference to ${ours.dir}, which ${file.path} imports`);
      }
    }
    for (const dir of one.references) {
      if (packages.some((other) => other.dir === dir)) continue;
      problems.push(`${one.dir}/tsconfig.json refers to ${dir}, which is not a package`);
    }
  }
  return { problems, read };
};

/** The names of all packages that a package.json declares. */
export const declaredBy = ({ dependencies, devDependencies, peerDependencies, optionalDependencies }) =>
  new Set(Object.keys({ ...dependencies, ...devDependencies, ...peerDependencies, ...optionalDependencies }));

/** Each imported package with the first file that imports it, sources before tests. */
export const importedPackages = (one) => {
  const found = new Map();
  for (const file of [...one.files].sort((a, b) => Number(a.test) - Number(b.test))) {
    for (const { specifier } of file.imports) {
      const name = packageOf(specifier);
      if (name !== null && !builtinModules.includes(name) && !found.has(name)) found.set(name, file);
    }
  }
  return found;
};
