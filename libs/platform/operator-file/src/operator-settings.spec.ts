import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readEnv } from '@berth/config';
import { createLogger } from '@berth/telemetry';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { readOperatorSettings, type OperatorSettings } from './index.js';

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

const following = (env: Record<string, string>): OperatorSettings => {
  const reader = readEnv(env);
  const settings = readOperatorSettings(reader);
  reader.done({});
  cleanUps.push(settings.rereadOnHangUp(log));
  return settings;
};

const hangUp = (): void => void process.emit('SIGHUP', 'SIGHUP');

describe('the settings after SIGHUP', () => {
  it('are those that the file has now', () => {
    writeFileSync(file, 'runtime: { builds: 3 }');
    const settings = following({ BERTH_CONFIG: file });
    writeFileSync(file, 'runtime: { builds: 4 }');
    hangUp();
    expect(settings.current.runtime.builds).toBe(4);
  });

  it('stay in force if the file has a fault, or if the named file is gone', () => {
    writeFileSync(file, 'runtime: { builds: 3 }');
    const settings = following({ BERTH_CONFIG: file });
    writeFileSync(file, 'runtime: { builds: none }');
    hangUp();
    expect(settings.current.runtime.builds).toBe(3);
    rmSync(file);
    hangUp();
    expect(settings.current.runtime.builds).toBe(3);
  });

  it('are the defaults if the file of the data folder is gone, which may be missing', () => {
    writeFileSync(file, 'runtime: { builds: 3 }');
    const settings = following({ BERTH_DATA: folder });
    rmSync(file);
    hangUp();
    expect(settings.current.runtime.builds).toBe(2);
  });
});
