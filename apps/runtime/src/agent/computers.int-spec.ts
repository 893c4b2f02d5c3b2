import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { HostFixture } from '../__fixtures__/host.fixture.js';

describe('a computer on its host', () => {
  let host: HostFixture;
  beforeEach(async () => {
    host = await HostFixture.open();
  });
  afterEach(() => host.destroy());

  it('has a box like an agent', async () => {
    const computer = HostFixture.computer();
    const { agentId } = computer;
    await host.agents.start(computer);
    expect(host.agents.observed).toEqual([{ agentId, epoch: 1, state: 'running', idleTtlSeconds: 0 }]);
    expect(await host.driver.list()).toEqual([{ agentId, epoch: 1 }]);
    await host.agents.remove(agentId);
    expect(await host.driver.list()).toEqual([]);
  });
});
