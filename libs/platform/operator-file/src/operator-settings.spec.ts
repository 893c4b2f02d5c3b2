import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { readEnv } from '@berth/config';
import { createLogger } from '@berth/telemetry';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { readOperatorSettings, type FindPlansInUse, type OperatorSettings } from './index.js';

let folder: string;
let file: string;
const cleanUps: (() => void)[] = [];

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'berth-operator-'));
  file = join(folder, 'berth.yaml');
});
afterEach(() => {
  for (const cleanUp of cleanUps.splice(0)) cleanUp();
  rmSync(folder, { recursive: true, force: true });
});

const log = createLogger({ service: 'test', level: 'silent' });

const reading = (env: Record<string, string>): OperatorSettings => {
  const reader = readEnv(env);
  const settings = readOperatorSettings(reader);
  reader.done({});
  return settings;
};

const following = (
  env: Record<string, string>,
  findPlansInUse: FindPlansInUse = async () => [],
): OperatorSettings => {
  const settings = reading(env);
  cleanUps.push(settings.rereadOnHangUp(log, findPlansInUse));
  return settings;
};

/** Resolves once the file was read again. */
const hangUp = async (): Promise<void> => {
  process.emit('SIGHUP', 'SIGHUP');
  await setImmediate();
};

describe('the settings after SIGHUP', () => {
  it('are those that the file has now', async () => {
    writeFileSync(file, 'runtime: { builds: 3 }');
    const settings = following({ BERTH_CONFIG: file });
    writeFileSync(file, 'runtime: { builds: 4 }');
    await hangUp();
    expect(settings.current.runtime.builds).toBe(4);
  });

  it('stay in force if the file has a fault, or if the named file is gone', async () => {
    writeFileSync(file, 'runtime: { builds: 3 }');
    const settings = following({ BERTH_CONFIG: file });
    writeFileSync(file, 'runtime: { builds: none }');
    await hangUp();
    expect(settings.current.runtime.builds).toBe(3);
    rmSync(file);
    await hangUp();
    expect(settings.current.runtime.builds).toBe(3);
  });

  it('are the defaults if the file of the data folder is gone, which may be missing', async () => {
    writeFileSync(file, 'runtime: { builds: 3 }');
    const settings = following({ BERTH_DATA: folder });
    rmSync(file);
    await hangUp();
    expect(settings.current.runtime.builds).toBe(2);
  });
});

const TEAM =
  'plans:\n  - { id: default, hosting: metered }\n  - { id: team, hosting: metered, maxAgents: 3 }\n';

describe('a plan in use', () => {
  it('cannot be removed: the earlier file stays in force, with everything in it', async () => {
    writeFileSync(file, `${TEAM}runtime: { builds: 3 }`);
    const settings = following({ BERTH_CONFIG: file }, async () => ['default', 'team']);
    writeFileSync(file, 'plans: [{ id: default, hosting: metered }]\nruntime: { builds: 4 }');
    await hangUp();
    expect(settings.current.plans.map(({ id }) => id)).toEqual(['default', 'team']);
    expect(settings.current.runtime.builds).toBe(3);
    writeFileSync(file, `${TEAM}runtime: { builds: 5 }`);
    await hangUp();
    expect(settings.current.runtime.builds).toBe(5);
  });

  it('is required of the file at the start, with the file, the line and the member', () => {
    writeFileSync(file, 'runtime: { builds: 3 }\nplans:\n  - { id: default, hosting: metered }\n');
    const settings = reading({ BERTH_CONFIG: file });
    expect(() => settings.requirePlans(['default'])).not.toThrow();
    expect(() => settings.requirePlans(['default', 'team'])).toThrow(
      `Bad configuration: BERTH_CONFIG (${file}) line 3: plans must keep team, which accounts have.`,
    );
  });

  it('that cannot be found out keeps the earlier file in force until it can, and then the file of that moment is read', async () => {
    writeFileSync(file, 'runtime: { builds: 3 }');
    let isDown = true;
    const settings = following({ BERTH_CONFIG: file }, () =>
      isDown ? Promise.reject(new Error('no answer')) : Promise.resolve([]),
    );
    writeFileSync(file, 'runtime: { builds: 4 }');
    await hangUp();
    expect(settings.current.runtime.builds).toBe(3);
    isDown = false;
    writeFileSync(file, 'runtime: { builds: 5 }');
    await vi.waitFor(() => expect(settings.current.runtime.builds).toBe(5), { timeout: 10_000 });
  });
});

describe('a listener', () => {
  it('is called after each file that is in force, not after a fault, and not after it ended', async () => {
    writeFileSync(file, 'runtime: { builds: 3 }');
    const settings = following({ BERTH_CONFIG: file });
    const builds: number[] = [];
    const end = settings.onReread(() => builds.push(settings.current.runtime.builds));
    for (const text of ['4', 'none', '5']) {
      writeFileSync(file, `runtime: { builds: ${text} }`);
      await hangUp();
    }
    end();
    await hangUp();
    expect(builds).toEqual([4, 5]);
  });
});
