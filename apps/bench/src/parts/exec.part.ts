import { BenchError } from '../bench-error.js';
import type { BenchContext, Effort } from '../context.js';
import { AgentShell } from '../exec/agent-shell.js';
import { openFloor, type Floor } from '../exec/floor.js';
import { spawnShell } from '../exec/spawn-shell.js';
import { compare, type Comparison, type Side } from '../measure/compare.js';
import type { Note } from '../measure/note.js';
import { repeatedSide, type Repetition } from '../measure/repeated-side.js';
import { CleanUp } from '../peers/clean-up.js';
import { openContainerPeer, type ContainerPeer } from '../peers/container-peer.js';
import type { BerthProgram } from '../programs/berth-program.js';
import type { Part, Section } from './part.js';

const PARALLEL = 16;
/** Share of the time that the container's command line takes. */
const AIM = 0.15;
const COMMAND = 'true';

/** A command in an awake agent, compared with a container's command line, and a breakdown of its time. */
export const execPart: Part = {
  name: 'exec',
  async run(context) {
    const cleanUp = new CleanUp();
    try {
      return await measure(context, cleanUp);
    } finally {
      await cleanUp.run();
    }
  },
};

const measure = async (context: BenchContext, cleanUp: CleanUp): Promise<readonly Section[]> => {
  const { berth, parts } = await context.berthOnParts();
  const agent = await berth.createAgent('exec bench', 'blank');
  const shell = new AgentShell(berth.api, agent, PARALLEL);
  cleanUp.add(() => shell.close());
  const floor = await openFloor(context, parts);
  cleanUp.add(() => floor.close());
  const found = await findPeer(context);
  const peer = found.kind === 'peer' ? found.peer : undefined;
  cleanUp.add(() => peer?.close());
  const measured: Measured = { effort: context.effort, berth, agent, shell, floor, peer };
  const sections = [await oneAfterTheOther(measured), await inParallel(measured)];
  return found.kind === 'note' ? [...sections, found] : sections;
};

interface Measured {
  readonly effort: Effort;
  readonly berth: BerthProgram;
  readonly agent: string;
  readonly shell: AgentShell;
  readonly floor: Floor;
  readonly peer: ContainerPeer | undefined;
}

/** Without containers, everything else is still measured. */
const findPeer = async ({
  folder,
  env,
}: BenchContext): Promise<{ readonly kind: 'peer'; readonly peer: ContainerPeer } | Note> => {
  try {
    return { kind: 'peer', peer: await openContainerPeer(folder, env) };
  } catch (error) {
    if (!(error instanceof BenchError)) throw error;
    return {
      kind: 'note',
      title: 'An execution was not compared with one in a container',
      text: error.message,
    };
  }
};

const oneAfterTheOther = ({ effort, berth, agent, shell, floor, peer }: Measured): Promise<Comparison> => {
  const long = { concurrency: 1, warmUpMs: effort.warmUpMs, roundMs: effort.longRoundMs };
  const ofOurs = { ...long, warmUpMs: effort.longWarmUpMs };
  const short = { ...long, roundMs: effort.roundMs };
  return compare(
    {
      title: `"${COMMAND}" in an awake agent, one after the other, with a breakdown of its time`,
      measure: 'time',
      ...(peer === undefined ? {} : { aim: AIM }),
      ours: repeatedSide('POST /api/agents/{id}/exec', ofOurs, () => shell.run(COMMAND)),
      limits: [
        ...peerSide(peer, long),
        repeatedSide('the same, detached, until it is accepted', short, () => shell.detach(COMMAND)),
        repeatedSide('GET /api/agents/{id} (queries accounts and agents)', short, () =>
          berth.api.call('GET', `/api/agents/${agent}`),
        ),
        repeatedSide('NATS request → other process → reply', short, floor.natsRoundTrip),
        repeatedSide('append of one event to the log', short, floor.append),
        spawnSide(short),
      ],
    },
    effort.longRounds,
  );
};

const inParallel = ({ effort, shell, peer }: Measured): Promise<Comparison> => {
  const often = { concurrency: PARALLEL, warmUpMs: effort.warmUpMs, roundMs: effort.longRoundMs };
  return compare(
    {
      title: `"${COMMAND}" in an awake agent, ${PARALLEL} at a time`,
      measure: 'rate',
      ours: repeatedSide('POST /api/agents/{id}/exec', often, () => shell.run(COMMAND)),
      limits: [...peerSide(peer, often), spawnSide(often)],
    },
    effort.longRounds,
  );
};

const peerSide = (peer: ContainerPeer | undefined, often: Repetition): readonly Side[] =>
  peer === undefined ? [] : [repeatedSide(`${peer.name} ${COMMAND}`, often, () => peer.exec([COMMAND]))];

const spawnSide = (often: Repetition): Side =>
  repeatedSide('spawn of /bin/sh -c true from Node', often, () => spawnShell(COMMAND));
