import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { HostFixture } from '../__fixtures__/host.fixture.js';

describe('an agent on a host', () => {
  let host: HostFixture;

  beforeEach(async () => {
    host = await HostFixture.open();
  });

  afterEach(() => host.destroy());

  it('starts, says which guest it has, and answers a delivery', async () => {
    const recipe = HostFixture.recipe();
    expect(await host.agents.start(recipe)).toEqual({
      guest: { version: '1.0.0', capabilities: ['exec.detached'] },
    });
    expect(await host.deliver(recipe.agentId, 1, 'hello')).toBe('echo: hello');
    expect(host.agents.observed).toEqual([{ agentId: recipe.agentId, epoch: 1, state: 'running' }]);
  });
});
