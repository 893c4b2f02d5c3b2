import { RfbClient } from '@berth/testing/rfb';
import type { BenchContext } from '../context.js';
import { compare, type Side } from '../measure/compare.js';
import type { Inventory } from '../measure/inventory.js';
import { bulk } from '../measure/loops.js';
import { ChildProgram } from '../programs/child-program.js';
import type { CleanUp } from '../peers/clean-up.js';
import type { Section } from '../parts/part.js';
import { startBareDesktop } from './bare-desktop.js';
import type { BenchComputer } from './bench-computer.js';

/** Fills a terminal as fast as it can. */
const SCROLL = 'while :; do ls -l /usr/bin; done';

/** A viewer session beside a client of a VNC server without Berth: how many updates, and how large. */
export const compareUpdates = async (
  context: BenchContext,
  computer: BenchComputer,
  cleanUp: CleanUp,
): Promise<readonly Section[]> => {
  const { effort, env } = context;
  const ours = await RfbClient.overWebSocket((await computer.view()).socketUrl);
  cleanUp.add(() => ours.close());
  const desktop = await startBareDesktop(context.file('bare-desktop'), env);
  cleanUp.add(() => desktop.stop());
  const bare = await RfbClient.overSocket(desktop.vncSocket);
  cleanUp.add(() => bare.close());
  const geometry = '90x40+600+20';
  await computer.run(
    `setsid xterm -geometry ${geometry} -e sh -c '${SCROLL}' > /dev/null 2>&1 & echo $! > scrolling; sleep 1`,
  );
  const { program: terminal } = await ChildProgram.start({
    name: 'xterm',
    command: 'sh',
    args: ['-c', `echo ready; exec xterm -geometry ${geometry} -e sh -c '${SCROLL}'`],
    env: desktop.env,
    ready: /ready/,
    channel: false,
  });
  cleanUp.add(() => terminal.stop());
  const frames = { ours: 0, bare: 0 };
  const side = (name: string, client: RfbClient, whose: keyof typeof frames): Side => {
    const round = () =>
      bulk(async () => {
        let count = 0;
        for (const end = performance.now() + effort.longRoundMs; performance.now() < end; count++)
          await client.update();
        frames[whose] += count;
        return count;
      });
    return { name, warmUp: () => client.update(), round };
  };
  const rate = await compare(
    {
      title: 'Updates of a screen that changes all the time',
      measure: 'rate',
      unit: 'updates',
      ours: side('viewer session (WebSocket, gateway, host, guest)', ours, 'ours'),
      limits: [side('a VNC server without Berth', bare, 'bare')],
    },
    effort.longRounds,
  );
  await computer.run('kill $(cat scrolling)');
  await terminal.stop();
  const bytes: Inventory = {
    kind: 'inventory',
    title: 'Size of such an update (ZRLE)',
    unit: 'KB',
    items: [
      { name: 'a VNC server without Berth', value: bare.bytes / 1_024 / Math.max(1, frames.bare) },
      { name: 'viewer session', value: ours.bytes / 1_024 / Math.max(1, frames.ours) },
    ],
  };
  return [rate, bytes];
};
