import { execFile } from 'node:child_process';
import { rmSync, writeFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { GitServer } from '@berth/testing/git-server';
import { BenchError } from '../bench-error.js';
import type { BenchContext } from '../context.js';
import { compare, type Side } from '../measure/compare.js';
import { repeatTimes, timed } from '../measure/loops.js';
import { BerthProgram } from '../programs/berth-program.js';
import type { Part, Section } from './part.js';

const NAME = 'small';
/** A program with one dependency, which is in the repository too, because the bench reaches no registry. */
const FILES = {
  'package.json': JSON.stringify({
    type: 'module',
    dependencies: { words: 'file:./words' },
    scripts: { build: 'node build.mjs', start: 'node main.mjs' },
  }),
  'words/package.json': JSON.stringify({
    name: 'words',
    version: '1.0.0',
    type: 'module',
    exports: './words.mjs',
  }),
  'words/words.mjs': 'export const words = ["built"];\n',
  'build.mjs':
    'import { writeFileSync } from "node:fs";\nimport { words } from "words";\nwriteFileSync("out.txt", words[0]);\n',
  'main.mjs': 'setInterval(() => undefined, 1000);\n',
};
const POLL_MS = 50;

interface Deployment {
  readonly status: string;
  readonly error: unknown;
}

/** Fetching and building a small npm repository, compared with the commands that an operator would type. */
export const buildPart: Part = {
  name: 'build',
  async run(context) {
    const git = await GitServer.start();
    try {
      await git.commit(NAME, FILES);
      return await measure(context, git);
    } finally {
      await git.stop();
    }
  },
};

const measure = async (context: BenchContext, git: GitServer): Promise<readonly Section[]> => {
  const operatorFile = context.file('operator.yaml');
  writeFileSync(operatorFile, `deploy:\n  gitHosts: [{ host: "${git.host}", insecure: true }]\n`);
  await context.stop();
  const settings = { BERTH_CONFIG: operatorFile, GIT_SSL_CAINFO: git.caFile };
  const berth = await BerthProgram.start(context.file('build-berth'), context.env, { settings });
  try {
    const agent = await berth.createAgent('build', 'blank');
    // The program is not started, so that only fetching and building count.
    await berth.sleepCold(agent);
    const ours = side('POST /api/deploy until it has succeeded', context, () => deploy(berth, agent, git));
    const byHand = side('git clone, npm install, npm run build', context, () => build(context, git));
    const title = 'Build of a small npm repository';
    return [await compare({ title, measure: 'time', ours, limits: [byHand] }, context.effort.longRounds)];
  } finally {
    await berth.removeAgents();
    await berth.stop();
  }
};

const side = (name: string, { effort }: BenchContext, work: () => Promise<unknown>): Side => ({
  name,
  warmUp: work,
  round: () => repeatTimes(effort.coldWakes, () => timed(work)),
});

const deploy = async (berth: BerthProgram, agentId: string, git: GitServer): Promise<void> => {
  const body = { agentId, source: 'git', repoUrl: git.urlOf(NAME) };
  const { deploymentId } = await berth.api.json<{ deploymentId: string }>('POST', '/api/deploy', body);
  for (;;) {
    const path = `/api/agents/${agentId}/deployments/${deploymentId}`;
    const { status, error } = await berth.api.json<Deployment>('GET', path);
    if (status === 'succeeded') return;
    if (status === 'failed') throw new BenchError(`The deployment failed: ${JSON.stringify(error)}`);
    await sleep(POLL_MS);
  }
};

const build = async (context: BenchContext, git: GitServer): Promise<void> => {
  const tree = context.file('by-hand');
  rmSync(tree, { recursive: true, force: true });
  const env = { ...context.env, GIT_SSL_CAINFO: git.caFile };
  const run = promisify(execFile);
  await run('git', ['clone', '--quiet', '--depth=1', git.urlOf(NAME), tree], { env });
  await run('npm', ['install'], { cwd: tree, env });
  await run('npm', ['run', 'build'], { cwd: tree, env });
};
