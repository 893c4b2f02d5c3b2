import { describe, expect, it } from 'vitest';
import { ContainerRemoval } from './container-removal.js';

describe('the removal of containers', () => {
  it('takes one call for all that wait while another runs', async () => {
    const calls: (readonly string[])[] = [];
    const removal = new ContainerRemoval(async (ids) => void calls.push(ids));
    const first = removal.remove('a');
    await Promise.all([first, removal.remove('b'), removal.remove('c')]);
    await removal.remove('d');
    expect(calls).toEqual([['a', 'b', 'c'], ['d']]);
  });

  it('runs one call at a time', async () => {
    let running = 0;
    let most = 0;
    const removal = new ContainerRemoval(async () => {
      most = Math.max(most, (running += 1));
      await Promise.resolve();
      running -= 1;
    });
    const first = removal.remove('a');
    await Promise.resolve();
    await Promise.resolve();
    await Promise.all([first, removal.remove('b')]);
    expect(most).toBe(1);
  });

  it('that fails for one container succeeds for the others', async () => {
    const removal = new ContainerRemoval(async (ids) => {
      if (ids.includes('bad')) throw new Error(`cannot remove ${ids.join(' ')}`);
    });
    const [good, bad] = await Promise.allSettled([removal.remove('good'), removal.remove('bad')]);
    expect(good).toMatchObject({ status: 'fulfilled' });
    expect(bad).toMatchObject({ status: 'rejected', reason: new Error('cannot remove bad') });
  });
});
