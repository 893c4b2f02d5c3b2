import { eventually } from '@berth/testing';
import { describe, expect, it } from 'vitest';
import { Api, codeOf, type ApiResponse } from './api.fixture.js';
import { newId } from '@berth/kernel';
import { anOwner, mintToken } from './end-users.fixture.js';
import { appendToLog } from './log.fixture.js';
import { openAccount } from './opened-accounts.fixture.js';
import type { Stack } from './stack.fixture.js';

const PATH = '/api/v1/feedback';
const REPORTS = '/api/v1/operations/feedback';
const PER_MINUTE = 5;
const PER_DAY = 20;
const MINUTE_MS = 60_000;
const HOUR_MS = 3_600_000;

/** Reports about the API itself. */
export const describeFeedback = (stack: () => Stack): void => {
  const api = new Api(stack);
  /** Repeated while an overload makes it 503, which counts as one report. */
  const report = (key: string, body: object, gateway = 0): Promise<ApiResponse> => {
    const headers = { 'idempotency-key': crypto.randomUUID() };
    return eventually(
      async () => {
        const response = await api.post(PATH, body, { key, gateway, headers });
        if (response.status === 503) throw new Error('The service is not available.');
        return response;
      },
      { timeoutMs: 30_000 },
    );
  };

  describe('feedback', () => {
    it('is stored with its account and key, and listed for operators, newest first', async () => {
      const { id: accountId, key, keyId } = await openAccount(api, 'reporter');
      const full = {
        ...{ kind: 'bug', message: 'It says 500. 😀', subject: 'Files', requestId: 'req-1' },
        ...{ statusCode: 500, tool: 'curl' },
      };
      const first = await report(key, { ...full, ignored: true });
      expect([first.status, first.body]).toEqual([
        202,
        { ...full, id: expect.stringMatching(/^fbk_/), accountId, keyId, createdAt: expect.any(String) },
      ]);
      const second = await report(key, { kind: 'question', message: 'Why?' });
      const absent = { subject: null, requestId: null, statusCode: null, tool: null };
      expect([second.status, second.body]).toMatchObject([202, { message: 'Why?', ...absent }]);
      for (let gateway = 0; gateway < stack().urls.length; gateway++) {
        const { body } = await api.get<{ items: unknown[] }>(`${REPORTS}?limit=2`, { gateway });
        expect(body.items).toEqual([second.body, first.body]);
      }
      const page = await api.get<{ items: unknown[]; nextCursor: string }>(`${REPORTS}?limit=1`);
      const next = await api.get<{ items: unknown[] }>(`${REPORTS}?limit=1&cursor=${page.body.nextCursor}`);
      expect([page.body.items, next.body.items]).toEqual([[second.body], [first.body]]);
    });

    it('is 5 a minute for each account, exactly, over all gateways together; a rejected body does not count', async () => {
      const [one, other] = [await openAccount(api, 'one'), await openAccount(api, 'other')];
      const body = { kind: 'other', message: 'x' };
      for (let n = 0; n < PER_MINUTE; n++)
        expect((await report(one.key, { kind: 'praise', message: 'x' })).status).toBe(400);
      const responses = await Promise.all(
        Array.from({ length: 20 }, (_, n) => report(one.key, body, n % stack().urls.length)),
      );
      const refused = responses.filter(({ status }) => status === 429);
      expect(responses.filter(({ status }) => status === 202)).toHaveLength(PER_MINUTE);
      expect(refused).toHaveLength(responses.length - PER_MINUTE);
      for (const response of refused) {
        expect(codeOf(response)).toBe('rate_limited');
        expect(Number(response.headers.get('retry-after'))).toBeGreaterThanOrEqual(1);
        expect(Number(response.headers.get('retry-after'))).toBeLessThanOrEqual(60);
      }
      expect((await report(other.key, body)).status).toBe(202);
    });

    it('is 20 in any 24 hours for each account, until the oldest is 24 h old', async () => {
      const { id: accountId, key, keyId } = await openAccount(api, 'busy');
      const oldestAt = Date.now() - HOUR_MS * 23;
      const past = Array.from({ length: PER_DAY - 1 }, (_, n) => ({
        type: 'FeedbackReported',
        data: {
          ...{ feedbackId: newId('fbk'), accountId, keyId, kind: 'bug', messageLength: 1 },
          at: new Date(oldestAt + n * MINUTE_MS).toISOString(),
        },
      }));
      await appendToLog(stack().dataDir, accountId, `feedback-${accountId}`, past, 'no_stream');
      const body = { kind: 'other', message: 'x' };
      expect((await report(key, body)).status).toBe(202);
      for (let gateway = 0; gateway < stack().urls.length; gateway++) {
        const refused = await report(key, body, gateway);
        expect([refused.status, codeOf(refused)]).toEqual([429, 'rate_limited']);
        const freeAt = Date.now() + Number(refused.headers.get('retry-after')) * 1_000;
        expect(Math.abs(freeAt - (oldestAt + 24 * HOUR_MS))).toBeLessThan(MINUTE_MS);
      }
    });

    it('is sent with keys only', async () => {
      const token = await mintToken(api, await anOwner(api, { templateId: 'blank' }), ['logs']);
      const response = await report(token, { kind: 'bug', message: 'x' });
      expect([response.status, codeOf(response)]).toEqual([403, 'token_scope']);
    }, 60_000);
  });
};
