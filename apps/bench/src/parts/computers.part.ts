import { setTimeout as sleep } from 'node:timers/promises';
import { BenchError } from '../bench-error.js';
import { BenchComputer } from '../computers/bench-computer.js';
import { SharedDisplay, type Tool } from '../computers/shared-display.js';
import { compareUpdates } from '../computers/compare-updates.js';
import { coldWake, warmWake } from '../computers/compare-wakes.js';
import type { BenchContext } from '../context.js';
import { compare, type Side } from '../measure/compare.js';
import type { Inventory } from '../measure/inventory.js';
import { memoryInventory } from '../measure/memory-inventory.js';
import type { Note } from '../measure/note.js';
import { repeatedSide, type Repetition } from '../measure/repeated-side.js';
import { CleanUp } from '../peers/clean-up.js';
import type { Part, Section } from './part.js';

/** Shares of the time that the command line tools take. */
const AIMS = { screenshot: 0.35, click: 0.2, type: 0.2, fastType: 0.7 } as const;
const TEXT = 'The quick brown fox jumps over the lazy dog, 0123456789 times; then it naps. '
  .repeat(2)
  .slice(0, 100);
const REST_MS = 3_000;
/** Less than it sleeps warm. */
const ASLEEP_MS = 500;

/** A desktop through the API, beside the programs that act on a display without Berth. */
export const computersPart: Part = {
  name: 'computers',
  async run(context) {
    const berth = await context.berth();
    const computer = await BenchComputer.create(berth);
    if (computer === undefined) return [UNSUPPORTED];
    const cleanUp = new CleanUp();
    cleanUp.add(() => computer.remove());
    try {
      return await measure(context, computer, cleanUp);
    } finally {
      await cleanUp.run();
    }
  },
};

const UNSUPPORTED: Note = {
  kind: 'note',
  title: 'Computers were not measured',
  text: 'This machine lacks software for desktops: npm run berth -- computers setup',
};

const measure = async (
  context: BenchContext,
  computer: BenchComputer,
  cleanUp: CleanUp,
): Promise<readonly Section[]> => {
  const awake = await memoryOf('awake', computer, REST_MS);
  const display = await SharedDisplay.of(computer, context);
  await openTerminals(computer);
  const sections: Section[] = [
    await screenshots(context, computer, display),
    await clicks(context, computer, display),
    ...(await typing(context, computer, display)),
    ...(await compareUpdates(context, computer, cleanUp)),
    await warmWake(context, computer),
    await coldWake(context, computer),
    awake,
  ];
  await computer.sleep();
  sections.push(await memoryOf('warm asleep', computer, ASLEEP_MS));
  const { missing } = display;
  if (missing.length > 0)
    sections.push({
      kind: 'note',
      title: 'Not every program was compared with',
      text: `apt-get install -y ${missing.join(' ')}`,
    });
  return sections;
};

/** A terminal full of text, one that takes keys, which has the focus, and both below the pointer's place. */
const openTerminals = async (computer: BenchComputer): Promise<void> => {
  const open = (command: string, place: string): string =>
    `setsid xterm -geometry ${place} -e sh -c '${command}' > /dev/null 2>&1 & `;
  await computer.run(
    `${open('ls -lR /usr/share | head -2000; sleep infinity', '90x40+600+20')} ${open('stty -icanon -echo; cat > /dev/null', '80x24+20+20')} sleep 3`,
  );
  await computer.act({ type: 'click', ...PLACE });
};

const PLACE = { x: 200, y: 200 };

const screenshots = (context: BenchContext, computer: BenchComputer, display: SharedDisplay) => {
  const often = oftenOf(context);
  const file = context.file('screenshot.png');
  return compare(
    {
      title: 'A screenshot of 1280 x 800 as PNG',
      measure: 'time',
      aim: AIMS.screenshot,
      ours: repeatedSide('GET /api/v1/computers/{id}/screenshot', often, () => computer.screenshot()),
      limits: [
        ...toolSide(display, 'scrot', 'scrot', often, ['--overwrite', file]),
        ...toolSide(display, 'import', 'import -window root', often, ['-window', 'root', file]),
      ],
    },
    context.effort.longRounds,
  );
};

const clicks = (context: BenchContext, computer: BenchComputer, display: SharedDisplay) => {
  const often = oftenOf(context);
  const { x, y } = PLACE;
  return compare(
    {
      title: 'A click at a place',
      measure: 'time',
      aim: AIMS.click,
      ours: repeatedSide('POST …/actions {type: click}', often, () => computer.act({ type: 'click', x, y })),
      limits: toolSide(display, 'xdotool', 'xdotool mousemove X Y click 1', often, [
        ...['mousemove', String(x), String(y), 'click', '1'],
      ]),
    },
    context.effort.longRounds,
  );
};

const typing = async (context: BenchContext, computer: BenchComputer, display: SharedDisplay) => {
  const often = oftenOf(context);
  const type = () => computer.act({ type: 'type', text: TEXT });
  const against = (name: string, aim: number, args: readonly string[]) =>
    compare(
      {
        title: `${TEXT.length} characters, beside ${name}`,
        measure: 'time',
        aim,
        ours: repeatedSide('POST …/actions {type: type}', often, type),
        limits: toolSide(display, 'xdotool', name, often, ['type', ...args, TEXT]),
      },
      context.effort.longRounds,
    );
  return [
    await against('xdotool type', AIMS.type, []),
    await against('xdotool type --delay 2', AIMS.fastType, ['--delay', '2']),
  ];
};

const oftenOf = ({ effort }: BenchContext): Repetition => ({
  concurrency: 1,
  warmUpMs: effort.longWarmUpMs,
  roundMs: effort.longRoundMs,
});

const toolSide = (
  display: SharedDisplay,
  tool: Tool,
  name: string,
  often: Repetition,
  args: readonly string[],
): readonly Side[] =>
  display.has(tool) ? [repeatedSide(name, often, () => display.run(tool, ...args))] : [];

const memoryOf = async (how: string, computer: BenchComputer, restMs: number): Promise<Inventory> => {
  await sleep(restMs);
  const processes = await computer.memory();
  if (processes.length === 0) throw new BenchError('The computer has no processes of this Berth.');
  return memoryInventory(`Memory of a computer without windows, ${how}`, processes);
};
