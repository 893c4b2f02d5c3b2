import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { formatted } from './formatted.mjs';
import { declaredBy, importedPackages } from './imports.check.mjs';

/** How every package is built; its references follow from its imports. */
const BUILD = {
  extends: 'tsconfig.base.json',
  compilerOptions: { rootDir: 'src', outDir: 'dist', tsBuildInfoFile: 'dist/.tsbuildinfo' },
  include: ['src'],
};

/**
 * Completes what follows from the imports: the packages of this repository that each package.json declares, those that
 * each tsconfig.json refers to, and the root's references to every package. A package without a tsconfig.json gets one.
 * Nothing is removed.
 */
export const completeDeclarations = async ({ root, packages }) => {
  const dirs = new Map(packages.map(({ name, dir }) => [name, dir]));
  for (const one of packages) {
    const imported = [...importedPackages(one)].filter(([name]) => dirs.has(name) && name !== one.name);
    await declare(root, one, imported);
    await refer(
      root,
      one.dir,
      imported.map(([name]) => dirs.get(name)),
      one.references,
    );
  }
  const { references } = readJson(root, 'tsconfig.json');
  await refer(
    root,
    '.',
    packages.map(({ dir }) => dir),
    references.map(({ path }) => relative('.', path)),
  );
};

const declare = async (root, { dir, manifest }, imported) => {
  const declared = declaredBy(manifest);
  const missing = imported.filter(([name]) => !declared.has(name));
  if (missing.length === 0) return;
  for (const [name, { test }] of missing)
    (manifest[test ? 'devDependencies' : 'dependencies'] ??= {})[name] = '*';
  await writeJson(root, join(dir, 'package.json'), manifest);
};

const refer = async (root, dir, needed, references) => {
  const path = join(dir, 'tsconfig.json');
  const isNew = !existsSync(join(root, path));
  const missing = needed.filter((one) => !references.includes(one));
  if (missing.length === 0 && !isNew) return;
  const config = isNew ? { ...BUILD, extends: relative(dir, BUILD.extends) } : readJson(root, path);
  const paths = missing
    .map((one) => relative(dir, one))
    .map((one) => (one.startsWith('.') ? one : `./${one}`));
  (config.references ??= []).push(...paths.map((one) => ({ path: one })));
  await writeJson(root, path, config);
};

const readJson = (root, path) => JSON.parse(readFileSync(join(root, path), 'utf8'));

const writeJson = async (root, path, value) =>
  writeFileSync(join(root, path), await formatted(path, JSON.stringify(value, null, 2)));
