import { eventually } from '@berth/testing';
import { describe, expect, it } from 'vitest';
import { Api } from './api.fixture.js';
import type { Stack } from './stack.fixture.js';

/** The last suite of a stack, so that the recount is of all that its tests did. */
export const describeRecount = (stack: () => Stack): void => {
  const api = new Api(stack);

  describe('usage after all of this', () => {
    it('agrees with a recount from the log in every row', async () => {
      const { body } = await eventually(
        async () => {
          const recounted = await api.get('/api/v1/operations/usage-recount');
          expect(recounted.status).toBe(200);
          return recounted;
        },
        { timeoutMs: 30_000 },
      );
      expect(body).toMatchObject({ differing: 0, differences: [] });
      expect(body['events']).toBeGreaterThan(0);
    });
  });
};
