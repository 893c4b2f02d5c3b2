import { walk } from './workspace.mjs';

/** What a library exports → the subjects of the requests that it sends for the services that import it. */
export const librariesThatCall = (packages, contracts) => {
  const found = new Map();
  for (const { name, files } of packages.filter(({ dir }) => dir.startsWith('libs/platform/'))) {
    for (const { program } of files.filter(({ test, path }) => !test && !/fixture/.test(path))) {
      const calls = new Set();
      walk(program, (node) => {
        if (node.type !== 'MemberExpression' || !contracts.has(node.object.name)) return;
        calls.add(contracts.get(node.object.name).get(node.property.name));
      });
      if (calls.size > 0) for (const exported of exportsOf(program)) found.set(`${name} ${exported}`, calls);
    }
  }
  return found;
};

const exportsOf = ({ body }) =>
  body
    .filter(({ type }) => type === 'ExportNamedDeclaration')
    .flatMap(({ declaration }) => declaration?.declarations ?? declaration ?? [])
    .map(({ id }) => id?.name);

/** The values that a file imports, each after the name of its package. */
export const importedIn = ({ body }) =>
  body
    .filter(({ type, importKind }) => type === 'ImportDeclaration' && importKind !== 'type')
    .flatMap(({ source, specifiers }) => specifiers.map((one) => `${source.value} ${one.imported?.name}`));
