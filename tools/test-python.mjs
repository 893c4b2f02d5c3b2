import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ensureReady, environmentWith, log, ROOT, runTool, SetupError } from './ensure-installed.mjs';
import { startOwnBerth } from './own-berth.mjs';
import { installRequirements, oldestAndNewestPython, PYTHON_CLIENT, runPython } from './python.mjs';

const MAX_DOCUMENT = 64 * 1024 * 1024;

// `npm run test:python`: all tests of the Python client with the oldest and the newest Python of this machine, also against
// a Berth of their own, and with the newest the package and its types. Ends with "N passed, N failed".
await runTool(async () => {
  const pythons = oldestAndNewestPython();
  const node = await ensureReady();
  const folder = mkdtempSync(join(tmpdir(), 'berth-python-'));
  const document = join(folder, 'openapi.json');
  let berth;
  try {
    writeFileSync(document, documentFrom(node));
    berth = await startOwnBerth(node);
    const env = {
      ...environmentWith(node),
      BERTH_OPENAPI: document,
      BERTH_URL: berth.url,
      BERTH_API_KEY: berth.key,
    };
    const counts = [];
    for (const python of pythons) counts.push(await testWith(python, python === pythons.at(-1), env));
    const [passed, failed] = ['passed', 'failed'].map((kind) =>
      counts.reduce((sum, count) => sum + count[kind], 0),
    );
    log(`\n${passed} passed, ${failed} failed`);
    return failed === 0 && passed > 0 ? 0 : 1;
  } finally {
    await berth?.stop();
    rmSync(folder, { recursive: true, force: true });
  }
});

/** Printed by another process, because this one may have a Node that cannot run Berth. */
function documentFrom(node) {
  const { status, stdout, stderr } = spawnSync(node, [join(ROOT, 'tools', 'openapi.mjs')], {
    encoding: 'utf8',
    maxBuffer: MAX_DOCUMENT,
  });
  if (status !== 0) throw new SetupError(`The OpenAPI document could not be built: ${stderr}`);
  return stdout;
}

async function testWith(python, isNewest, env) {
  log(`\nThe Python client with Python 3.${python.minor}`);
  const packages = await installRequirements(python, isNewest ? 'tools' : 'test');
  const { code, output } = await runPython(
    python.program,
    ['-m', 'pytest', '-m', isNewest ? 'tools or not tools' : 'not tools'],
    { env, paths: [join(PYTHON_CLIENT, 'src'), packages], print: (text) => void process.stdout.write(text) },
  );
  return pytestCounts(output, code);
}

/** The counts in pytest's last line; errors and skipped tests count as failures, as does a run that did not end well. */
function pytestCounts(output, code) {
  const last = output.trimEnd().split('\n').at(-1) ?? '';
  const count = (...kinds) =>
    [...last.matchAll(/(\d+) (\w+)/g)].reduce(
      (sum, [, number, kind]) => sum + (kinds.includes(kind) ? Number(number) : 0),
      0,
    );
  const failed = count('failed', 'error', 'errors', 'skipped', 'xfailed', 'xpassed');
  return { passed: count('passed'), failed: failed === 0 && code !== 0 ? 1 : failed };
}
