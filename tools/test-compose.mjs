import { openSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { buildImages } from './containers/build-images.mjs';
import { ensureDocker } from './containers/ensure-docker.mjs';
import { ensureParts } from './containers/ensure-parts.mjs';
import { inNamespaces } from './containers/new-namespaces.mjs';
import { prepareStandIns } from './containers/stand-ins.mjs';
import { temporaryRun } from './containers/temporary-run.mjs';
import { ensureReady, environmentWith, log, ROOT, runTool, SetupError } from './ensure-installed.mjs';
import { runChild } from './run-child.mjs';
import { countsOf, reportIn } from './test-counts.mjs';

// `npm run test:compose`: runs the tests of the compose file (`*.compose-spec.ts`) with a Docker engine of its own and
// ends with "N passed, N failed". Arguments go to vitest. What the engine makes is gone with its namespaces.
const given = process.argv.slice(2);

await runTool(async () => {
  if (process.platform !== 'linux' || process.getuid?.() !== 0)
    throw new SetupError('The compose tests need Linux and root: run them as root.');
  const node = await ensureReady();
  const containerd = await ensureParts(log);
  const { folder, groups } = temporaryRun('berth-compose-');
  const { path, config, natsServer } = await ensureDocker(folder, log);
  await prepareStandIns(join(folder, 'stand-ins'), { node, natsServer }, log);
  const engine = { DOCKER_HOST: 'unix:///run/docker.sock', DOCKER_CONFIG: config };
  // The containerd that a test puts in the place of the engine's own.
  const machine = {
    BERTH_TEST_CONTAINERD_PATH: containerd.path,
    BERTH_TEST_IMAGES: await buildImages(log),
    CNI_PATH: containerd.cniPath,
  };
  const env = { ...environmentWith(node), ...engine, ...machine, BERTH_TEST_FOLDER: folder };
  env.PATH = [env.PATH.split(delimiter)[0], path].join(delimiter);
  const { passed, failed } = await runTests(node, folder, groups, env);
  log(`\n${passed} passed, ${failed} failed`);
  return failed === 0 && passed > 0 ? 0 : 1;
});

async function runTests(node, folder, groups, env) {
  const report = reportIn(folder, 'verbose');
  const vitest = join(ROOT, 'node_modules', 'vitest', 'vitest.mjs');
  const config = join(ROOT, 'vitest.compose.config.ts');
  const tests = [node, vitest, 'run', '--config', config, ...report.options, ...given];
  const sandbox = join(ROOT, 'tools', 'containers', 'docker-sandbox.mjs');
  const [program, ...args] = inNamespaces(groups, [node, sandbox, folder, ...tests]);
  const stdio = ['inherit', 'inherit', 'inherit', openSync('/proc/self/ns/net', 'r')];
  // unshare ignores SIGTERM; its end ends every process of the namespaces.
  const code = await runChild(program, args, { cwd: ROOT, env, graceMs: 1_000, stdio });
  return countsOf(report.read(), code, given.length > 0);
}
