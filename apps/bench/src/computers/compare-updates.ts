import { RfbClient } from '@berth/testing/rfb';
import type { BenchContext } from '../context.js';
import { compare, type Side } from '../measure/compare.js';
import type { Inventory } from '../measure/inventory.js';
import { bulk } from '../measure/loops.js';
import type { CleanUp } from '../peers/clean-up.js';
import type { Section } from '../parts/part.js';
import type { BenchComputer } from './bench-computer.js';
import type { SharedDisplay } from './shared-display.js';

/** A viewer session beside a client of the VNC server itself: how many updates, and how large. */
export const compareUpdates = async (
  { effort }: BenchContext,
  computer: BenchComputer,
  { vncSocket }: SharedDisplay,
  cleanUp: CleanUp,
): Promise<readonly Section[]> => {
  const ours = await RfbClient.overWebSocket((await computer.view()).socketUrl);
  cleanUp.add(() => ours.close());
  const bare = await RfbClient.overSocket(vncSocket);
  cleanUp.add(() => bare.close());
  // Scrolls as fast as a terminal can.
  await computer.run(
    `setsid xterm -geometry 90x40+600+20 -e sh -c 'while :; do ls -l /usr/bin; done' > /dev/null 2>&1 & echo $! > scrolling; sleep 1`,
  );
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
      limits: [side('straight to the VNC server', bare, 'bare')],
    },
    effort.longRounds,
  );
  await computer.run('kill $(cat scrolling)');
  const bytes: Inventory = {
    kind: 'inventory',
    title: 'Size of such an update (ZRLE)',
    unit: 'KB',
    items: [
      { name: 'straight to the VNC server', value: bare.bytes / 1_024 / Math.max(1, frames.bare) },
      { name: 'viewer session', value: ours.bytes / 1_024 / Math.max(1, frames.ours) },
    ],
  };
  return [rate, bytes];
};
