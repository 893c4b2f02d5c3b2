import { BenchError } from '../bench-error.js';
import { ContainerHost } from '../containers/container-host.js';
import { NerdctlPeer } from '../containers/nerdctl-peer.js';
import type { BenchContext } from '../context.js';
import { AgentShell } from '../exec/agent-shell.js';
import { compare, type Comparison, type Side } from '../measure/compare.js';
import { repeatTimes, timed } from '../measure/loops.js';
import { repeatedSide } from '../measure/repeated-side.js';
import { CleanUp } from '../peers/clean-up.js';
import { openDockerPeer } from '../peers/docker-peer.js';
import { findExecutable, usualFolders } from '../peers/executables.js';
import type { ContainerPeer } from '../peers/peer.js';
import type { BerthProgram } from '../programs/berth-program.js';
import type { Part, Section } from './part.js';

const COMMAND = 'true';
/** Share of the time that a container's command line takes. */
const SHARE_OF_COMMAND_LINE = 0.08;
/** Times as long as under the process driver. */
const OF_PROCESS_DRIVER = 1.2;

/** A command in an awake agent in a container, and a warm wake: compared with command lines and with the process driver. */
export const containerExecPart: Part = {
  name: 'container-exec',
  needs: 'containers',
  async run(context) {
    const cleanUp = new CleanUp();
    try {
      return await measure(context, cleanUp);
    } finally {
      await cleanUp.run();
    }
  },
};

/** An agent of one driver, and a shell in it. */
interface Awake {
  readonly berth: BerthProgram;
  readonly agent: string;
  readonly shell: AgentShell;
}

const measure = async (context: BenchContext, cleanUp: CleanUp): Promise<readonly Section[]> => {
  const host = ContainerHost.of(context);
  const peer = await NerdctlPeer.open(host, context);
  cleanUp.add(() => peer.close());
  const docker = await dockerOf(context);
  cleanUp.add(() => docker?.close());
  const contained = await host.berth(context);
  cleanUp.add(() => contained.stop());
  const plain = await context.berth();
  const ours = await awake(contained, cleanUp);
  const process = await awake(plain, cleanUp);
  return [
    await commands(context, ours, process, { peer, name: (await peer.create()).name, docker }),
    await warmWakes(context, ours, process),
  ];
};

const awake = async (berth: BerthProgram, cleanUp: CleanUp): Promise<Awake> => {
  const agent = await berth.createAgent('exec', 'blank');
  cleanUp.add(() => berth.removeAgents());
  const shell = new AgentShell(berth.api, agent);
  cleanUp.add(() => shell.close());
  return { berth, agent, shell };
};

/** Without docker, everything else is still measured. */
const dockerOf = async ({ folder, env }: BenchContext): Promise<ContainerPeer | undefined> => {
  const folders = usualFolders(env);
  const busybox = findExecutable('busybox', folders);
  if (busybox === undefined) return undefined;
  return openDockerPeer({ folder, env, folders, busybox }).catch((error: unknown) => {
    if (error instanceof BenchError) return undefined;
    throw error;
  });
};

const commands = (
  { effort }: BenchContext,
  ours: Awake,
  process: Awake,
  { peer, name, docker }: { peer: NerdctlPeer; name: string; docker: ContainerPeer | undefined },
): Promise<Comparison> => {
  const often = { concurrency: 1, warmUpMs: effort.longWarmUpMs, roundMs: effort.longRoundMs };
  const dockerSide: readonly Side[] =
    docker === undefined
      ? []
      : [repeatedSide(`${docker.name} ${COMMAND}`, often, () => docker.exec([COMMAND]))];
  return compare(
    {
      title: `"${COMMAND}" in an awake agent in a container`,
      measure: 'time',
      aim: SHARE_OF_COMMAND_LINE,
      ours: repeatedSide('POST …/exec, agent in a container', often, () => ours.shell.run(COMMAND)),
      limits: [
        repeatedSide(`nerdctl exec ${COMMAND}`, often, () => peer.exec(name, [COMMAND])),
        ...dockerSide,
        repeatedSide('POST …/exec, agent as a process', often, () => process.shell.run(COMMAND)),
      ],
    },
    effort.longRounds,
  );
};

const warmWakes = ({ effort }: BenchContext, ours: Awake, process: Awake): Promise<Comparison> => {
  const side = (name: string, { berth, agent, shell }: Awake): Side => {
    const wake = async (): Promise<number> => {
      const { sleepDepth } = await berth.sleep(agent);
      if (sleepDepth !== 'warm')
        throw new BenchError(`The agent's sleep is ${String(sleepDepth)}, not warm.`);
      return timed(() => shell.run(COMMAND));
    };
    return { name, warmUp: () => repeatTimes(3, wake), round: () => repeatTimes(effort.warmWakes, wake) };
  };
  return compare(
    {
      title: `Warm wake: "${COMMAND}" in an agent whose processes are frozen`,
      measure: 'time',
      aim: OF_PROCESS_DRIVER,
      ours: side('agent in a container', ours),
      limits: [side('agent as a process', process)],
    },
    effort.rounds,
  );
};
