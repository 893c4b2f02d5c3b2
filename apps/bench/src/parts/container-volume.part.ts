import { mkdirSync } from 'node:fs';
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { ContainerHost } from '../containers/container-host.js';
import type { BenchContext } from '../context.js';
import { AgentShell } from '../exec/agent-shell.js';
import { compare, type Comparison } from '../measure/compare.js';
import { repeatTimes, timed } from '../measure/loops.js';
import type { Part } from './part.js';

/** Each command leaves nothing in memory that is not written. */
const WORKS = [
  {
    title: 'Sequential write of 128 MiB, flushed',
    prepare: 'true',
    command: 'rm -f big && dd if=/dev/zero of=big bs=1M count=128 conv=fsync 2>/dev/null',
  },
  {
    title: '200 small files from an archive, each of them flushed',
    prepare:
      'mkdir -p src && i=0 && while [ $i -lt 200 ]; do echo "content of $i" > src/$i; i=$((i+1)); done && tar -cf src.tar src',
    command: 'rm -rf out && mkdir out && tar -xf src.tar -C out && sync out/src/*',
  },
];

/** The cost of the file system of an agent's volume, compared with the file system of the host below it. */
export const containerVolumePart: Part = {
  name: 'container-volume',
  needs: 'containers',
  async run(context) {
    const berth = await ContainerHost.of(context).berth(context);
    const shell = new AgentShell(berth.api, await berth.createAgent('volume', 'blank'));
    try {
      const comparisons: Comparison[] = [];
      for (const work of WORKS) comparisons.push(await measure(context, shell, work));
      return comparisons;
    } finally {
      await shell.close();
      await berth.removeAgents();
      await berth.stop();
    }
  },
};

const measure = async (
  context: BenchContext,
  shell: AgentShell,
  { title, prepare, command }: (typeof WORKS)[number],
): Promise<Comparison> => {
  const folder = context.file('on-host');
  mkdirSync(folder, { recursive: true });
  const onHost = (line: string): Promise<unknown> =>
    promisify(execFile)('/bin/sh', ['-c', line], { cwd: folder });
  await shell.run(prepare);
  await onHost(prepare);
  const side = (work: () => Promise<unknown>) => ({
    warmUp: work,
    round: () => repeatTimes(context.effort.coldWakes, () => timed(work)),
  });
  return compare(
    {
      title,
      measure: 'time',
      ours: { name: 'in an agent’s volume', ...side(() => shell.run(command)) },
      limits: [{ name: 'in a folder of the host', ...side(() => onHost(command)) }],
    },
    context.effort.rounds,
  );
};
