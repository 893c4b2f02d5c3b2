import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { CI_LIMITS, runCi, shardOf } from './ci-steps.mjs';
import { log, ROOT, runTool } from './ensure-installed.mjs';

// What `.ci/run` runs: `npm test`, the core of the container tests where this machine can, all tests of the Python client,
// one shard of the long lane, and one of the mutations, some six. The last line is the sum of all, "N passed, N failed".
const LONG_SHARDS = 8;
const MUTATION_SHARDS = 48;
const tool = (...path) => [process.execPath, join(ROOT, 'tools', ...path)];
const git = (...args) => spawnSync('git', args, { cwd: ROOT, encoding: 'utf8' }).stdout?.trim();

await runTool(async () => {
  const commands = {
    suite: tool('test.mjs'),
    prepare: tool('containers', 'assert-containers-run.mjs'),
    containers: [...tool('test-containers.mjs'), '--project=core'],
    python: tool('test-python.mjs'),
    long: [...tool('test.mjs'), '--long', `--shard=${shardOf(git, LONG_SHARDS)}`],
    mutations: [...tool('mutate.mjs'), '--shard', shardOf(git, MUTATION_SHARDS)],
  };
  const { passed, failed } = await runCi(commands, CI_LIMITS, (text) => void process.stdout.write(text));
  log(`\n${passed} passed, ${failed} failed`);
  return failed === 0 && passed > 0 ? 0 : 1;
});
