import { existsSync, globSync, readFileSync, readdirSync } from 'node:fs';
import { join, relative } from 'node:path';
import { parseSync } from 'oxc-parser';

/**
 * @typedef {object} Import
 * @property {string} specifier
 * @property {boolean} typeOnly Whether the compiler removes it.
 * @property {number} line
 *
 * @typedef {object} SourceFile
 * @property {string} path Relative to the root, with `/`.
 * @property {string} text
 * @property {boolean} test
 * @property {readonly Import[]} imports
 * @property {any} program The ESTree of the file.
 * @property {(offset: number) => number} lineAt
 *
 * @typedef {object} Package
 * @property {string} name
 * @property {string} dir Relative to the root.
 * @property {string | undefined} type From the tag `type:…`.
 * @property {Record<string, any>} manifest
 * @property {readonly string[]} references Folders, relative to the root, that its tsconfig refers to.
 * @property {readonly SourceFile[]} files
 *
 * @typedef {object} Workspace
 * @property {string} root
 * @property {Record<string, any>} manifest
 * @property {readonly Package[]} packages
 * @property {readonly SourceFile[]} tools
 * @property {readonly string[]} unreadable Files that do not parse.
 *
 * @typedef {object} Outcome The result of a check. A check that read nothing fails.
 * @property {readonly string[]} problems
 * @property {number} read The number of items it examined.
 * @property {readonly string[]} [notes]
 */

const TEST =
  /\.(spec|int-spec|e2e-spec|long-spec|container-spec|fixture|contract|suite)\.ts$|-(fixture|contract)\.ts$|\/(__fixtures__|fixtures|testing|e2e|event-store-contract)\//;

/** Whether a file is a test or is used only by tests. */
export const isTest = (path) => TEST.test(path);

const readJson = (path) => JSON.parse(readFileSync(path, 'utf8'));

/** Reads and parses the sources of all packages in the root's `workspaces`, and of the tools. */
export const readWorkspace = (root) => {
  const unreadable = [];
  const patterns = readJson(join(root, 'package.json')).workspaces ?? [];
  const dirs = patterns
    .flatMap((pattern) => globSync(pattern, { cwd: root }))
    .filter((dir) => existsSync(join(root, dir, 'package.json')))
    .sort();
  const packages = dirs.map((dir) => readPackage(root, dir, unreadable));
  const tools = readSources(root, 'tools', unreadable);
  return { root, manifest: readJson(join(root, 'package.json')), packages, tools, unreadable };
};

const readPackage = (root, dir, unreadable) => {
  const manifest = readJson(join(root, dir, 'package.json'));
  const tags = manifest.nx?.tags ?? [];
  const config = join(root, dir, 'tsconfig.json');
  const references = existsSync(config) ? (readJson(config).references ?? []) : [];
  return {
    name: manifest.name,
    dir,
    type: tags.find((tag) => tag.startsWith('type:'))?.slice('type:'.length),
    manifest,
    references: references.map(({ path }) => relative(root, join(root, dir, path))),
    files: readSources(root, join(dir, 'src'), unreadable),
  };
};

const readSources = (root, dir, unreadable) => {
  if (!existsSync(join(root, dir))) return [];
  return readdirSync(join(root, dir), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && /\.(ts|mjs|js)$/.test(entry.name) && !entry.name.endsWith('.d.ts'))
    .map((entry) => relative(root, join(entry.parentPath, entry.name)))
    .filter((path) => !/(^|\/)(node_modules|dist)\//.test(path))
    .sort()
    .map((path) => readSource(root, path, unreadable));
};

const readSource = (root, path, unreadable) => {
  const text = readFileSync(join(root, path), 'utf8');
  const parsed = parseSync(path, text);
  for (const error of parsed.errors) unreadable.push(`${path}: ${error.message}`);
  const lineAt = (offset) => text.slice(0, offset).split('\n').length;
  return {
    path,
    text,
    test: isTest(path),
    imports: importsOf(parsed, text, lineAt),
    program: parsed.program,
    lineAt,
  };
};

const importsOf = ({ module, program }, text, lineAt) => {
  const found = module.staticImports.map(({ moduleRequest, entries, start }) => ({
    specifier: moduleRequest.value,
    typeOnly: entries.length > 0 && entries.every((entry) => entry.isType),
    line: lineAt(start),
  }));
  for (const { entries, start } of module.staticExports) {
    const from = entries.find((entry) => entry.moduleRequest !== null && entry.moduleRequest !== undefined);
    if (from === undefined) continue;
    const typeOnly = entries.every((entry) => entry.isType);
    found.push({ specifier: from.moduleRequest.value, typeOnly, line: lineAt(start) });
  }
  for (const { moduleRequest, start } of module.dynamicImports) {
    const literal = /^(['"`])([^'"`$]+)\1$/.exec(text.slice(moduleRequest.start, moduleRequest.end));
    if (literal !== null) found.push({ specifier: literal[2], typeOnly: false, line: lineAt(start) });
  }
  if (/\bimport\(/.test(text)) {
    walk(program, (node) => {
      if (node.type !== 'TSImportType') return;
      const specifier = (node.source ?? node.argument?.literal)?.value;
      if (specifier !== undefined) found.push({ specifier, typeOnly: true, line: lineAt(node.start) });
    });
  }
  return found;
};

/** Visits every node of an ESTree, parents first. */
export const walk = (node, visit) => {
  if (node === null || typeof node !== 'object') return;
  if (Array.isArray(node)) {
    for (const item of node) walk(item, visit);
    return;
  }
  if (typeof node.type === 'string') visit(node);
  // Most members are primitive: `Object.entries` and a call for each take three times as long.
  for (const key in node) {
    const value = node[key];
    if (key !== 'parent' && typeof value === 'object') walk(value, visit);
  }
};

/** `@scope/name/deep` → `@scope/name`; null for a relative path or a built-in module. */
export const packageOf = (specifier) => {
  if (specifier.startsWith('.') || specifier.startsWith('node:')) return null;
  return specifier.split('/', specifier.startsWith('@') ? 2 : 1).join('/');
};
