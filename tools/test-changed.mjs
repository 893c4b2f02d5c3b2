import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { ensureReady, environmentWith, log, ROOT, runTool } from './ensure-installed.mjs';
import { runChild } from './run-child.mjs';

// `npm run test:changed`: builds, and runs the lint and the unit and integration tests of each project that the change, as
// far as it is not on `main`, touches or that depends on one that it touches. What has passed on this machine with the same
// sources is taken from the cache of Nx. Arguments go to `nx affected`.

const TARGETS = 'lint,test';

/**
 * The commit with which the working tree is compared: where it left `main` or that of the origin. Without commits of its
 * own, the last commit if something is not committed, otherwise the one before. Undefined in a clone without such a commit.
 *
 * @param {string} root of the repository
 * @returns {string | undefined}
 */
export function baseOf(root) {
  const git = (...args) => {
    const { status, stdout } = spawnSync('git', args, { cwd: root, encoding: 'utf8' });
    return status === 0 ? stdout.trim() : undefined;
  };
  const head = git('rev-parse', 'HEAD');
  const left = ['main', 'origin/main'].map((branch) => git('merge-base', 'HEAD', branch));
  const own = left.find((commit) => commit !== undefined && commit !== head);
  if (own !== undefined) return own;
  return git('status', '--porcelain') ? head : git('rev-parse', '--verify', 'HEAD~1');
}

if (process.argv[1] === join(ROOT, 'tools', 'test-changed.mjs'))
  await runTool(async () => {
    // Also checks the types, of everything: tsc builds only what has changed.
    const node = await ensureReady();
    const base = baseOf(ROOT);
    log(
      base === undefined ? 'Testing every project.' : `Testing what has changed since ${base.slice(0, 8)}.`,
    );
    const which = base === undefined ? ['run-many'] : ['affected', `--base=${base}`];
    const nx = join(ROOT, 'node_modules', 'nx', 'dist', 'bin', 'nx.js');
    const args = [nx, ...which, `--targets=${TARGETS}`, '--output-style=stream', ...process.argv.slice(2)];
    return runChild(node, args, { cwd: ROOT, env: environmentWith(node), graceMs: 20_000 });
  });
