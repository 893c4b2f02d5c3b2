import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { guestEnv } from '@berth/guest-protocol';
import { newId } from '@berth/kernel';
import { expect, it } from 'vitest';
import type { BoxSpec } from '../box-spec.js';
import type { DriverCapabilities } from '../driver.js';
import { widestNetwork } from '../requirements.plan.js';
import { uptime, type DriverFixture } from './driver.fixture.js';

const image = {
  kind: 'image',
  version: 2,
  deploymentId: 'dep_1',
  reference: 'example.test/image@sha256:00',
} as const;

/** Specs that some drivers cannot honour, each with the capability that it needs. */
const DEMANDING: readonly {
  readonly changes: Partial<BoxSpec>;
  readonly isOffered: (capabilities: DriverCapabilities) => boolean;
}[] = [
  { changes: { source: image }, isOffered: ({ sources }) => sources.includes('image') },
  { changes: { user: 'root' }, isOffered: ({ users }) => users.includes('root') },
  {
    changes: { network: 'public' },
    isOffered: (capabilities) => widestNetwork(capabilities) === 'public',
  },
  {
    changes: { network: 'none' },
    isOffered: ({ network }) => network !== 'host' && network.includes('none'),
  },
];

/** The guarantees of creating and removing boxes. */
export const describeBoxes = (host: () => DriverFixture, codeFile: string): void => {
  it('starts with a guest that runs commands as the user of the box, in its volume', async () => {
    const started = await host().start();
    const { box } = started;
    expect(await started.sh('pwd')).toBe(box.inside.volume);
    const uid = box.runAs?.uid ?? process.getuid?.();
    expect(await started.sh('id -u')).toBe(String(uid));
  });

  it('starts the guest with the settings of the spec', async () => {
    const { client } = await host().start({ env: { [guestEnv.generation]: 'legacy' } });
    expect(await client.health()).toMatchObject({ version: '0.9.0' });
  });

  it('names the program of the spec', async () => {
    const spec = await host().spec({ command: ['node', 'agent.mjs'] });
    expect((await host().driver.start(spec)).command).toEqual(['node', 'agent.mjs']);
  });

  it('has the files of its source, and its program cannot change them if agents are isolated', async () => {
    const started = await host().start();
    const { box } = started;
    const file = join(box.inside.code, codeFile);
    expect(await started.sh(`test -r ${file} && echo there`)).toBe('there');
    const isIsolated = host().driver.capabilities.isolation !== 'none';
    const written = await started.sh(`test -w ${file} && echo writable || echo protected`);
    expect(written).toBe(isIsolated ? 'protected' : 'writable');
  });

  it('runs what a build has left in a folder, if the driver runs builds', async () => {
    const { driver } = host();
    const agentId = newId('agt');
    const folder = driver.codeFolder(agentId, 'dep_1');
    mkdirSync(folder, { recursive: true, mode: 0o755 });
    writeFileSync(join(folder, 'made-by-the-build'), 'of version 2', { mode: 0o644 });
    const source = { kind: 'build', version: 2, deploymentId: 'dep_1', folder } as const;
    if (driver.capabilities.sources.includes('build')) {
      const started = await host().start({ agentId, source });
      expect(await started.sh(`cat ${started.box.inside.code}/made-by-the-build`)).toBe('of version 2');
    } else {
      await expect(driver.prepare(source)).rejects.toMatchObject({ code: 'spec_unsupported' });
    }
  });

  it('replaces the agent’s earlier box and ends all of its processes', async () => {
    const first = await host().start();
    const { agentId } = first.box;
    await first.tick();
    const second = await host().start({ agentId, epoch: 2 });
    const replacedAt = uptime();
    await first.box.gone;
    expect(await host().driver.list()).toEqual([{ agentId, epoch: 2 }]);
    await second.sh('sleep 0.2');
    expect((await second.ticks()).filter((tick) => tick > replacedAt)).toEqual([]);
  });

  it('keeps the volume when it is stopped, and starts with an empty folder for temporary files', async () => {
    const first = await host().start();
    const { agentId, inside } = first.box;
    await first.sh(`echo kept > $BERTH_VOLUME/kept; echo lost > ${inside.tmp}/lost`);
    await host().driver.stop(agentId, 0);
    const second = await host().start({ agentId, epoch: 2 });
    expect(await second.sh('cat $BERTH_VOLUME/kept')).toBe('kept');
    expect(await second.sh(`ls -A ${second.box.inside.tmp}`)).toBe('');
  });

  it('is removed with its volume, any number of times', async () => {
    const first = await host().start();
    const { box } = first;
    await first.sh('mkdir $BERTH_VOLUME/d; echo x > $BERTH_VOLUME/d/f; chmod 0 $BERTH_VOLUME/d');
    await host().driver.remove(box.agentId);
    await host().driver.remove(box.agentId);
    expect(await host().listed()).toEqual([]);
    const again = await host().start({ agentId: box.agentId, epoch: 2 });
    expect(await again.sh('ls -A $BERTH_VOLUME')).toBe('');
  });

  it('is refused, with nothing done, if the driver cannot honour its spec', async () => {
    const { capabilities } = host().driver;
    const running = await host().start();
    const { box } = running;
    for (const { changes, isOffered } of DEMANDING) {
      if (isOffered(capabilities)) continue;
      const spec = await host().spec({ agentId: box.agentId, epoch: 2, ...changes });
      await expect(host().driver.start(spec)).rejects.toMatchObject({ code: 'spec_unsupported' });
    }
    expect(await host().driver.list()).toEqual([{ agentId: box.agentId, epoch: 1 }]);
    expect(await running.sh('echo unharmed')).toBe('unharmed');
  });

  it('needs a source that the driver can prepare', async () => {
    const { driver } = host();
    const { source } = await host().spec();
    await driver.prepare(source);
    await driver.prepare(source);
    expect(driver.capabilities.sources).toContain(source.kind);
    if (!driver.capabilities.sources.includes('image'))
      await expect(driver.prepare(image)).rejects.toMatchObject({ code: 'spec_unsupported' });
  });

  it('cannot reach the volume of another box, nor the folders of a guest, if agents are isolated', async () => {
    const [one, other] = await Promise.all([host().start(), host().start()]);
    await other.sh('echo mine > $BERTH_VOLUME/secret');
    const { guestFolders } = await host().spec({ agentId: one.box.agentId });
    const isolated = host().driver.capabilities.isolation !== 'none';
    const outcome = isolated ? 'denied' : 'read';
    const seen = await one.sh(
      `grep -q mine ${other.box.inside.storage.volume}/secret 2>/dev/null && echo read || echo denied`,
    );
    expect(seen).toBe(outcome);
    expect(await one.sh(`ls ${guestFolders.run} >/dev/null 2>&1 && echo read || echo denied`)).toBe(outcome);
  });

  it('of an unknown agent can be stopped and removed without an error, but not frozen or measured', async () => {
    const { driver } = host();
    const agentId = newId('agt');
    await driver.stop(agentId, 0);
    await driver.remove(agentId);
    expect(await driver.isFrozen(agentId)).toBe(false);
    expect(await driver.stats(agentId)).toBeNull();
    await expect(driver.freeze(agentId)).rejects.toMatchObject({ code: 'box_absent' });
    await expect(driver.thaw(agentId)).rejects.toMatchObject({ code: 'box_absent' });
  });
};
