import { join } from 'node:path';
import { decideGiven, fold } from '@berth/kernel';
import { describe, expect, it } from 'vitest';
import { describeGoldenEvents } from '@berth/testing';
import { installationDecider } from './installation.decider.js';
import { installationCodec } from './installation.events.js';
import type { InstallationEvent } from './installation.js';

const begin = { type: 'Begin', accountId: 'acc_1', keyId: 'key_1', now: 0 } as const;
const finish = { type: 'Finish', now: 1_000 } as const;
const begun: InstallationEvent = {
  type: 'InstallationBegun',
  accountId: 'acc_1',
  keyId: 'key_1',
  begunAt: '1970-01-01T00:00:00.000Z',
};
const finished: InstallationEvent = { type: 'InstallationFinished', finishedAt: '1970-01-01T00:00:01.000Z' };

describeGoldenEvents(join(import.meta.dirname, '__events__'), installationCodec, {
  InstallationBegun: true,
  InstallationFinished: true,
});

describe('an installation', () => {
  it('begins with the ids of its first account and key', () => {
    expect(decideGiven(installationDecider, [], begin).events).toEqual([begun]);
  });

  it('keeps its first ids when another process begins it again', () => {
    const other = { ...begin, accountId: 'acc_2', keyId: 'key_2' };
    for (const history of [[begun], [begun, finished]]) {
      expect(decideGiven(installationDecider, history, other)).toEqual({ events: [], refusal: undefined });
    }
    expect(fold(installationDecider, [begun])).toMatchObject({ accountId: 'acc_1', keyId: 'key_1' });
  });

  it('finishes only once', () => {
    expect(decideGiven(installationDecider, [begun], finish).events).toEqual([finished]);
    expect(decideGiven(installationDecider, [begun, finished], finish).events).toEqual([]);
  });

  it('cannot finish before it has begun', () => {
    expect(decideGiven(installationDecider, [], finish).refusal).toBeInstanceOf(Error);
  });
});
