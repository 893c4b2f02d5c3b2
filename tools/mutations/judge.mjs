import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/**
 * A break of one rule, and the test that must fail with it.
 *
 * @typedef {object} Mutation
 * @property {string} guarantee the rule, a sentence
 * @property {string} file the source that is broken
 * @property {string} find text that occurs once in it
 * @property {string} replace what stands there in the break
 * @property {string} test the file of the test
 * @property {string} title words of the title of the test, as they stand in its file
 * @property {'e2e'} [lane] if only a whole installation can show the break, which takes a minute
 */

const MEMBERS = ['guarantee', 'file', 'find', 'replace', 'test', 'title'];

/** What makes this list of breaks worthless for the files as they are: nobody would notice that a break breaks nothing. */
export function problemsOf(mutations, root) {
  const guarantees = new Set();
  return mutations.flatMap((mutation) => {
    const problems = problemsOfOne(mutation, root);
    if (guarantees.has(mutation.guarantee)) problems.push('the guarantee occurs twice');
    guarantees.add(mutation.guarantee);
    return problems.map((problem) => `${mutation.guarantee}: ${problem}`);
  });
}

function problemsOfOne(mutation, root) {
  const missing = MEMBERS.filter((name) => typeof mutation[name] !== 'string');
  if (missing.length > 0) return missing.map((name) => `it has no ${name}`);
  const { file, find, replace, test, title } = mutation;
  const problems = [];
  const [source, spec] = [read(root, file), read(root, test)];
  if (source === undefined) problems.push(`${file} does not exist`);
  else if (find === '' || source.split(find).length !== 2)
    problems.push(`${file} does not have its text once`);
  if (find === replace) problems.push('it changes nothing');
  if (spec === undefined) problems.push(`${test} does not exist`);
  else if (title === '' || !spec.includes(title)) problems.push(`${test} has no title with "${title}"`);
  return problems;
}

function read(root, path) {
  return existsSync(join(root, path)) ? readFileSync(join(root, path), 'utf8') : undefined;
}

/** The source with the break in it. `replace` is text, in which `$` means nothing. */
export function broken(source, { find, replace }) {
  return source.replace(find, () => replace);
}

/** A pattern for the titles of tests that a title stands for: those of `it.each` have values in place of `%s` or `$1`. */
export function patternOf(title) {
  const literal = (text) => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
  return title
    .split(/%\.?\d*[a-zA-Z#]|\$\{[^}]*\}|\$\w+/)
    .map(literal)
    .join('.*');
}

/**
 * How the tests of the title ended in a report of vitest: `failed` if one of them did, `passed` if they all did, and
 * `none` if none of them ran.
 *
 * @returns {'failed' | 'passed' | 'none'}
 */
export function outcomeOf(report, { test, title }) {
  const tests = (report?.testResults ?? [])
    .filter(({ name }) => name.endsWith(`/${test}`))
    .flatMap(({ assertionResults }) => assertionResults)
    .filter(({ fullName }) => new RegExp(patternOf(title)).test(fullName));
  if (tests.some(({ status }) => status === 'failed')) return 'failed';
  return tests.some(({ status }) => status === 'passed') ? 'passed' : 'none';
}

/** The breaks of a shard such as `3/48`; neighbours in the list, which mostly break the same package. */
export function inShard(mutations, shard) {
  const [index, count] = shard.split('/').map(Number);
  const start = (at) => Math.round((mutations.length * at) / count);
  return mutations.slice(start(index - 1), start(index));
}
