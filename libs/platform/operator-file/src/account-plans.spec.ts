import { accountsRequests } from '@berth/contracts/accounts';
import { describe, expect, it } from 'vitest';
import { AccountPlans, parseOperatorFile } from './index.js';

const DIFFERENT = `plans:
  - { id: default, hosting: metered, addons: [computers] }
  - { id: few, hosting: metered, maxAgents: 3 }
`;

/** `plans` of an account whose plan has the id `planId`, and how often they asked for it. */
const plansOf = (file: string, planId: string) => {
  const requests: unknown[] = [];
  const request = async (...[definition, message]: readonly unknown[]): Promise<never> => {
    requests.push([definition, message]);
    return { planId } as never;
  };
  return { plans: new AccountPlans({ current: parseOperatorFile(file) }, { request }), requests };
};

describe('the plan of an account', () => {
  it('says whether it has an add-on, and how many agents it allows', async () => {
    const { plans: all } = plansOf(DIFFERENT, 'default');
    expect([await all.hasAddon('acc_1', 'computers'), await all.maxAgents('acc_1')]).toEqual([true, null]);
    const { plans: few, requests } = plansOf(DIFFERENT, 'few');
    expect([await few.hasAddon('acc_1', 'computers'), await few.maxAgents('acc_1')]).toEqual([false, 3]);
    expect(requests).toEqual([
      [accountsRequests.getAccount, { id: 'acc_1' }],
      [accountsRequests.getAccount, { id: 'acc_1' }],
    ]);
  });

  it('is not requested while all plans say the same', async () => {
    const { plans, requests } = plansOf('', 'default');
    expect([await plans.hasAddon('acc_1', 'computers'), await plans.maxAgents('acc_1')]).toEqual([
      true,
      null,
    ]);
    const { plans: none, requests: other } = plansOf('plans: [{ id: default, hosting: metered }]', 'default');
    expect(await none.hasAddon('acc_1', 'computers')).toBe(false);
    expect([requests, other]).toEqual([[], []]);
  });

  it('allows nothing while the file lacks it', async () => {
    const { plans } = plansOf(DIFFERENT, 'of another file');
    await expect(plans.hasAddon('acc_1', 'computers')).rejects.toMatchObject({ kind: 'unavailable' });
  });
});
