import { rm, stat } from 'node:fs/promises';
import { SCOPES } from '@berth/contracts/accounts';
import { launchService } from '@berth/service';
import { eventually, type TcpProxy } from '@berth/testing';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { AccountsModule } from './index.js';
import { quiet } from './running-accounts.fixture.js';
import { ServedAccounts } from './served-accounts.fixture.js';

let served: ServedAccounts;

beforeAll(async () => {
  served = await ServedAccounts.start(1);
});

afterAll(() => served.stop());

describe('an unavailable dependency', () => {
  const outages = {
    cut: (proxy: TcpProxy) => proxy.cut({ refuse: true }),
    frozen: (proxy: TcpProxy) => proxy.freeze(),
  };

  it.each([
    ['postgres', 'cut'],
    ['postgres', 'frozen'],
    ['eventStore', 'cut'],
    ['eventStore', 'frozen'],
  ] as const)('(%s, %s) is a 503 within 5 s, and calls succeed again once it is back', async (part, how) => {
    const key = await served.bootstrapKey();
    const call = async (): Promise<unknown> =>
      part === 'postgres' ? served.authenticate(key) : served.mint();
    await call();
    onTestFinished(() => served.proxies[part].restore());
    outages[how](served.proxies[part]);
    const begunAt = performance.now();
    await expect(call()).rejects.toMatchObject({ kind: 'unavailable', code: 'service_unavailable' });
    expect(performance.now() - begunAt).toBeLessThan(5_000);
    served.proxies[part].restore();
    await eventually(call, { timeoutMs: 30_000 });
  });

  it('does not affect authentication if it is the event log', async () => {
    const key = await served.bootstrapKey();
    onTestFinished(() => served.proxies.eventStore.restore());
    served.proxies.eventStore.freeze();
    expect(await served.authenticate(key)).toMatchObject({ scopes: SCOPES });
  });
});

describe('a service that is asked to stop', () => {
  it.each(['postgres', 'eventStore'] as const)('stops within 9 s although %s is frozen', async (part) => {
    const service = await launchService(AccountsModule, { config: served.config, log: quiet });
    onTestFinished(() => served.proxies[part].restore());
    served.proxies[part].freeze();
    const begunAt = performance.now();
    await service.stop();
    expect(performance.now() - begunAt).toBeLessThan(9_000);
  });
});

describe('a service that is started again', () => {
  it('knows its keys and leaves the key file unchanged', async () => {
    const key = await served.bootstrapKey();
    await rm(served.config.bootstrapKeyFile);
    await served.stopServices();
    await served.startAnother();
    expect(await served.authenticate(key)).toMatchObject({ scopes: SCOPES });
    await expect(stat(served.config.bootstrapKeyFile)).rejects.toMatchObject({ code: 'ENOENT' });
  });
});
