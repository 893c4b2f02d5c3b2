import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { buildImages } from './containers/build-images.mjs';
import { ensureParts } from './containers/ensure-parts.mjs';
import { createGroups, inNamespaces, removeGroups } from './containers/new-namespaces.mjs';
import { ensureReady, environmentWith, log, ROOT, runTool, SetupError } from './ensure-installed.mjs';
import { runChild } from './run-child.mjs';
import { countsOf } from './test-counts.mjs';

// `npm run test:containers`: runs the tests of the nerdctl driver (`*.container-spec.ts`) with a containerd of its own
// and ends with "N passed, N failed". Arguments go to vitest. Whatever the tests leave behind counts as a failure.
const given = process.argv.slice(2);

await runTool(async () => {
  if (process.platform !== 'linux' || process.getuid?.() !== 0)
    throw new SetupError('The container tests need Linux and root: run them as root.');
  const node = await ensureReady();
  const { path, cniPath } = await ensureParts(log);
  const folder = mkdtempSync(join(tmpdir(), 'berth-containers-'));
  // Root of a user namespace must be able to enter it.
  chmodSync(folder, 0o711);
  const groups = createGroups(basename(folder));
  try {
    const images = await buildImages(join(folder, 'images'), log);
    const env = { ...environmentWith(node), CNI_PATH: cniPath, BERTH_TEST_IMAGES: images };
    env.PATH = `${env.PATH.split(':')[0]}:${path}`;
    const { passed, failed } = await runTests(node, folder, groups, env);
    log(`\n${passed} passed, ${failed} failed`);
    return failed === 0 && passed > 0 ? 0 : 1;
  } finally {
    removeGroups(groups);
    rmSync(folder, { recursive: true, force: true });
  }
});

async function runTests(node, folder, groups, env) {
  const report = join(folder, 'report.json');
  const vitest = join(ROOT, 'node_modules', 'vitest', 'vitest.mjs');
  const config = join(ROOT, 'vitest.containers.config.ts');
  const reporters = ['--reporter=default', '--reporter=json', `--outputFile.json=${report}`];
  const tests = [node, vitest, 'run', '--config', config, ...reporters, ...given];
  const sandbox = join(ROOT, 'tools', 'containers', 'sandbox.mjs');
  const [program, ...args] = inNamespaces(groups, [node, sandbox, folder, ...tests]);
  const code = await runChild(program, args, { cwd: ROOT, env, graceMs: 15_000 });
  const result = existsSync(report) ? JSON.parse(readFileSync(report, 'utf8')) : undefined;
  const { passed, failed } = countsOf(result, code, given.length > 0);
  const leftovers = readLeftovers(folder);
  for (const leftover of leftovers) log(`left behind: ${leftover}`);
  return { passed, failed: failed + (leftovers.length > 0 ? 1 : 0) };
}

function readLeftovers(folder) {
  const file = join(folder, 'leftovers.json');
  return existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : ['unknown: the run was ended early'];
}
