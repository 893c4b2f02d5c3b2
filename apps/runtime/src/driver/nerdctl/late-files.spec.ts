import { createLogger } from '@berth/telemetry';
import { eventually } from '@berth/testing';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { LateFiles } from './late-files.js';

describe('the files of a removed container', () => {
  let present: Set<string>;
  /** Those that appear after the first look. */
  let late: readonly string[];
  let looks: number;
  /** How many looks fail. */
  let failing: number;
  let ending: AbortController;
  let files: LateFiles;
  let kept: Promise<void>;

  beforeEach(() => {
    [present, late, looks, failing] = [new Set(), [], 0, 0];
    ending = new AbortController();
    const removeFiles = async (containers: readonly string[]): Promise<void> => {
      looks += 1;
      if (looks <= failing) throw new Error('the disk does not respond');
      for (const container of containers) present.delete(container);
      if (looks === 1) present = new Set([...present, ...late]);
    };
    files = new LateFiles(removeFiles, createLogger({ service: 'test', level: 'silent' }), 1);
    kept = files.keepUp(ending.signal);
  });

  afterEach(async () => {
    ending.abort();
    await kept;
  });

  it('are removed if they appear after its removal, and those of other containers are not', async () => {
    late = ['removed', 'other'];
    files.removed(['removed']);
    await eventually(() => expect([...present]).toEqual(['other']));
  });

  it('are removed later if that fails at first', async () => {
    failing = 2;
    present = new Set(['removed']);
    files.removed(['removed']);
    await eventually(() => expect(present.size).toBe(0));
    expect(looks).toBe(3);
  });

  it('are looked for three times, and never without a removal', async () => {
    files.removed(['removed']);
    await eventually(() => expect(looks).toBe(3));
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect(looks).toBe(3);
  });
});
