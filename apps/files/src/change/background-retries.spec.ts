import { createLogger } from '@berth/telemetry';
import { eventually } from '@berth/testing';
import { describe, expect, it } from 'vitest';
import { BackgroundRetries } from './background-retries.js';

const silent = createLogger({ service: 'test', level: 'silent' });
const what = { what: 'a test', agentId: 'agt_1' };

describe('a background retry', () => {
  it('is repeated until it succeeds, and then ends', async () => {
    const retries = new BackgroundRetries(silent);
    let attempts = 0;
    retries.begin(what, async () => {
      attempts++;
      if (attempts < 3) throw new Error('not yet');
    });
    await eventually(() => attempts === 3);
    await retries.stop();
    expect(attempts).toBe(3);
  });

  it('ends with the service', async () => {
    const retries = new BackgroundRetries(silent);
    let attempts = 0;
    const fail = async (): Promise<void> => {
      attempts++;
      throw new Error('never');
    };
    retries.begin(what, fail);
    await eventually(() => attempts > 0);
    await retries.stop();
    const before = attempts;
    retries.begin(what, fail);
    await retries.stop();
    expect(attempts).toBe(before);
  });

  it('is limited to a thousand at a time; further ones are dropped', async () => {
    const retries = new BackgroundRetries(silent);
    let attempts = 0;
    for (let n = 0; n < 1_100; n++) retries.begin(what, async () => void attempts++);
    await eventually(() => attempts === 1_000);
    await retries.stop();
    expect(attempts).toBe(1_000);
  });
});
