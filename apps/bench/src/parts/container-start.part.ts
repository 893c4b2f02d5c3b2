import { ContainerHost } from '../containers/container-host.js';
import { NerdctlPeer } from '../containers/nerdctl-peer.js';
import type { BenchContext } from '../context.js';
import { AgentShell } from '../exec/agent-shell.js';
import { compare, type Comparison } from '../measure/compare.js';
import { repeatTimes, timed } from '../measure/loops.js';
import { CleanUp } from '../peers/clean-up.js';
import type { BerthProgram } from '../programs/berth-program.js';
import type { Part } from './part.js';

const COMMAND = 'true';

/** How long an agent in a container takes until it runs, compared with a bare container of the same image. */
export const containerStartPart: Part = {
  name: 'container-start',
  needs: 'containers',
  async run(context) {
    const cleanUp = new CleanUp();
    try {
      const host = ContainerHost.of(context);
      const berth = await host.berth(context);
      cleanUp.add(() => berth.stop());
      cleanUp.add(() => berth.removeAgents());
      const peer = await NerdctlPeer.open(host, context);
      cleanUp.add(() => peer.close());
      return [await creation(context, berth, peer), await coldWake(context, berth, peer)];
    } finally {
      await cleanUp.run();
    }
  },
};

const creation = ({ effort }: BenchContext, berth: BerthProgram, peer: NerdctlPeer): Promise<Comparison> => {
  let count = 0;
  const create = async (): Promise<number> => {
    const ms = await timed(() => berth.createAgent(`created ${(count += 1)}`, 'blank'));
    await berth.removeAgents();
    return ms;
  };
  const bare = async (): Promise<number> => {
    const { name, ms } = await peer.create();
    await peer.remove(name);
    return ms;
  };
  return compare(
    {
      title: 'Create an agent in a container, until it runs',
      measure: 'time',
      ours: {
        name: 'POST /api/agents until running',
        warmUp: create,
        round: () => repeatTimes(effort.coldWakes, create),
      },
      limits: [
        {
          name: 'nerdctl run --detach',
          warmUp: bare,
          round: () => repeatTimes(effort.coldWakes, bare),
        },
      ],
    },
    effort.longRounds,
  );
};

const coldWake = async (
  { effort }: BenchContext,
  berth: BerthProgram,
  peer: NerdctlPeer,
): Promise<Comparison> => {
  const agent = await berth.createAgent('cold', 'blank');
  const shell = new AgentShell(berth.api, agent);
  const { name } = await peer.create();
  const wake = async (): Promise<number> => {
    await berth.sleepCold(agent);
    return timed(() => shell.run(COMMAND));
  };
  const start = async (): Promise<number> => {
    await peer.stop(name);
    return timed(() => peer.start(name));
  };
  const startAndRun = async (): Promise<number> =>
    (await start()) + (await timed(() => peer.exec(name, [COMMAND])));
  const times = (work: () => Promise<number>) => ({
    warmUp: work,
    round: () => repeatTimes(effort.coldWakes, work),
  });
  try {
    return await compare(
      {
        title: `Cold wake: "${COMMAND}" in an agent whose container is gone`,
        measure: 'time',
        ours: { name: 'POST /api/agents/{id}/exec starts the agent', ...times(wake) },
        limits: [
          { name: 'nerdctl start', ...times(start) },
          { name: `nerdctl start, nerdctl exec ${COMMAND}`, ...times(startAndRun) },
        ],
      },
      effort.longRounds,
    );
  } finally {
    await shell.close();
  }
};
