import type { Json } from '@berth/kernel';
import { expect, it } from 'vitest';
import type { DriverFixture } from './driver.fixture.js';

const stored = (record: Json): Json => JSON.parse(JSON.stringify(record)) as Json;

/** The guarantees for a host whose process ends and starts again. */
export const describeRestarts = (
  host: () => DriverFixture,
  openOther: () => Promise<DriverFixture>,
): void => {
  it('continues to run without its driver, and is found again by its record', async () => {
    const before = await host().start({ epoch: 7 });
    const { agentId, socket, inside, runAs, command, record } = before.box;
    await before.sh('echo alive > $BERTH_VOLUME/state');
    await host().reopen();
    expect(await host().driver.list()).toEqual([{ agentId, epoch: 7 }]);
    const found = await host().driver.find(agentId, stored(record));
    expect(found).toMatchObject({ agentId, socket, inside, runAs, command });
    if (found === undefined) throw new Error('The box was not found.');
    const after = host().connect(found);
    expect(await after.sh('cat $BERTH_VOLUME/state')).toBe('alive');
    await host().driver.freeze(agentId);
    expect(await host().driver.isFrozen(agentId)).toBe(true);
    await host().driver.thaw(agentId);
    await after.client.shutDown(0);
    await found.gone;
  });

  it('is found frozen if it was frozen', async () => {
    const { box } = await host().start();
    await host().driver.freeze(box.agentId);
    await host().reopen();
    expect(await host().driver.find(box.agentId, stored(box.record))).toBeDefined();
    expect(await host().driver.isFrozen(box.agentId)).toBe(true);
  });

  it('is not found once its guest is gone, although its record is still there', async () => {
    const { box } = await host().start();
    await host().driver.stop(box.agentId, 0);
    await host().reopen();
    expect(await host().driver.find(box.agentId, stored(box.record))).toBeUndefined();
  });

  it('is not found by the record of an earlier box of the agent', async () => {
    const { box } = await host().start();
    await host().start({ agentId: box.agentId, epoch: 2 });
    await host().reopen();
    expect(await host().driver.find(box.agentId, stored(box.record))).toBeUndefined();
  });

  it('is not found by a damaged record', async () => {
    const { box } = await host().start();
    const wrongTypes: Json = { socket: 1, inside: null, guest: { pid: '1' } };
    for (const record of [null, 'box', [], {}, wrongTypes])
      expect(await host().driver.find(box.agentId, record)).toBeUndefined();
  });

  it('is listed by its own installation only', async () => {
    const other = await openOther();
    try {
      const [one, two] = await Promise.all([host().start(), other.start()]);
      expect(await host().listed()).toEqual([one.box.agentId]);
      expect(await other.listed()).toEqual([two.box.agentId]);
    } finally {
      await other.destroy();
    }
  });
};
