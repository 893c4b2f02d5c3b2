import { execFileSync } from 'node:child_process';
import { existsSync, globSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { anchorsOf, inlineCode, linksOf } from './markdown.mjs';

const PAGES = ['README.md', 'CONTRIBUTING.md', 'SECURITY.md', 'docs/**/*.md', 'apps/*/README.md'];
/** The verbs of the four statements in each app's README. */
const STATEMENTS = ['hears', 'decides', 'remembers', 'tells'];
/** A path of this repository in inline code. */
const OUR_PATH = /^(apps|libs|tools|infra|docs)\/[\w./@-]+$/;
/** Absolute paths of a developer's machine. */
const PRIVATE_PATH = /(?<![\w.:/])\/(home|Users|work)\/[\w.-]+/;

const pagesOf = (root) =>
  PAGES.flatMap((pattern) => globSync(pattern, { cwd: root, exclude: ['**/node_modules/**'] })).sort();

/** Checks that the targets of links, and the files that pages name, exist. */
export const checkLinks = ({ root }) => {
  const problems = [];
  let read = 0;
  for (const page of pagesOf(root)) {
    const text = readFileSync(join(root, page), 'utf8');
    for (const target of linksOf(text)) {
      read++;
      const problem = judgeLink(root, page, target, text);
      if (problem !== null) problems.push(`${page}: ${problem}`);
    }
    for (const code of inlineCode(text)) {
      if (!OUR_PATH.test(code) || code.includes('/dist/')) continue;
      read++;
      if (!existsSync(join(root, code))) problems.push(`${page} names \`${code}\`, which does not exist`);
    }
  }
  return { problems, read };
};

const judgeLink = (root, page, target, text) => {
  if (/^[a-z][a-z+.-]*:/i.test(target)) return null;
  const [path, anchor] = target.split('#');
  const file = path === '' ? join(root, page) : resolve(root, dirname(page), decodeURIComponent(path));
  if (relative(root, file).startsWith('..')) return `the link ${target} leaves the repository`;
  if (!existsSync(file)) return `the link ${target} leads nowhere`;
  if (!anchor || !file.endsWith('.md')) return null;
  const anchors = anchorsOf(path === '' ? text : readFileSync(file, 'utf8'));
  return anchors.has(anchor) ? null : `the link ${target} names no heading`;
};

/** Checks that every app's README states what the app hears, decides, remembers and tells. */
export const checkReadmes = ({ root, packages }) => {
  const problems = [];
  const apps = packages.filter((one) => one.type === 'app' || one.type === 'composition');
  for (const { dir } of apps) {
    const path = join(root, dir, 'README.md');
    const text = existsSync(path) ? readFileSync(path, 'utf8') : null;
    if (text === null) problems.push(`${dir}/README.md is missing`);
    for (const verb of text === null ? [] : STATEMENTS) {
      if (!new RegExp(`^\\W*${verb}\\b`, 'im').test(text))
        problems.push(`${dir}/README.md does not say what it ${verb}`);
    }
  }
  return { problems, read: apps.length };
};

const TEXT = /\.(md|ts|mjs|cjs|js|json|ya?ml|conf|sh|py|toml)$|Dockerfile/;

/** Checks that no committed file contains a path of the machine it was written on. */
export const checkPrivatePaths = ({ root }) =>
  judgeLines(root, (line, path) => {
    const found = path.startsWith('tools/checks/') ? null : PRIVATE_PATH.exec(line);
    return found === null ? null : `names a path of one machine: ${found[0]}`;
  });

/** What git writes around both sides of a conflict, and what a formatter makes of the end. */
const CONFLICT = /^\s*(<{7} |>{7} |(> ){7})/;

/** Checks that no committed file contains the marks of an unresolved conflict. */
export const checkConflicts = ({ root }) =>
  judgeLines(root, (line) => (CONFLICT.test(line) ? 'contains the mark of an unresolved conflict' : null));

/** Judges each line of all committed texts; `judge` returns what is wrong with a line, or null. */
const judgeLines = (root, judge) => {
  const listed = filesOf(root).filter((path) => TEXT.test(path) && path !== 'package-lock.json');
  const problems = listed.flatMap((path) =>
    readFileSync(join(root, path), 'utf8')
      .split('\n')
      .map((line, index) => [judge(line, path), index + 1])
      .filter(([problem]) => problem !== null)
      .map(([problem, number]) => `${path}:${number} ${problem}`),
  );
  return { problems, read: listed.length };
};

const filesOf = (root) => {
  if (existsSync(join(root, '.git'))) {
    const args = ['ls-files', '--cached', '--others', '--exclude-standard', '-z'];
    const listed = execFileSync('git', args, { cwd: root, encoding: 'utf8', maxBuffer: 64 << 20 }).split(
      '\0',
    );
    return listed.filter((path) => path !== '' && existsSync(join(root, path)));
  }
  return globSync('**/*', { cwd: root, exclude: ['**/node_modules/**', '**/dist/**', '.nx/**', '.data/**'] });
};
