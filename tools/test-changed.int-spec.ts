import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { baseOf } from './test-changed.mjs';

let root = '';
const git = (...args: readonly string[]): string => {
  const author = ['-c', 'user.name=somebody', '-c', 'user.email=somebody@example.org'];
  return execFileSync('git', [...author, ...args], { cwd: root, encoding: 'utf8' }).trim();
};
/** Its message makes it differ from another one of the same second. */
const commit = (message = 'a change'): string => {
  git('commit', '--quiet', '--allow-empty', `--message=${message}`);
  return git('rev-parse', 'HEAD');
};

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'berth-changed-'));
  git('init', '--quiet', '--initial-branch=main');
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

describe('the working tree is compared', () => {
  it('on a branch with the commit of main where the branch began', () => {
    const begun = commit();
    git('checkout', '--quiet', '-b', 'change');
    commit();
    commit();
    git('checkout', '--quiet', 'main');
    commit('a change of others');
    git('checkout', '--quiet', 'change');
    expect(baseOf(root)).toBe(begun);
  });

  it('on main with the last commit while something is not committed, otherwise with the one before', () => {
    const before = commit();
    const last = commit();
    expect(baseOf(root)).toBe(before);
    writeFileSync(join(root, 'new'), '');
    expect(baseOf(root)).toBe(last);
  });

  it('on main with the main of its origin, if it has commits that this one lacks', () => {
    const published = commit();
    git('update-ref', 'refs/remotes/origin/main', published);
    commit();
    commit();
    expect(baseOf(root)).toBe(published);
  });

  it('in a clone without a branch main with that of its origin', () => {
    const begun = commit();
    git('update-ref', 'refs/remotes/origin/main', begun);
    git('checkout', '--quiet', '-b', 'change');
    git('branch', '--quiet', '-D', 'main');
    commit();
    expect(baseOf(root)).toBe(begun);
  });

  it('with nothing where there is no earlier commit', () => {
    commit();
    expect(baseOf(root)).toBeUndefined();
  });
});
