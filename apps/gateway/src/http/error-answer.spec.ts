import { DomainError, type ErrorKind } from '@berth/kernel';
import { HttpException } from '@nestjs/common';
import { describe, expect, it } from 'vitest';
import { answerTo } from './error-answer.js';
import { HttpRefusal, invalidRequest } from './http-refusal.js';

describe('answerTo', () => {
  it.each<[ErrorKind, number]>([
    ['invalid', 400],
    ['unauthenticated', 401],
    ['payment_required', 402],
    ['forbidden', 403],
    ['not_found', 404],
    ['conflict', 409],
    ['too_large', 413],
    ['exhausted', 429],
    ['unsupported', 501],
    ['upstream', 502],
    ['unavailable', 503],
    ['timeout', 504],
  ])('answers %s with %i, code, message and context', (kind, status) => {
    const answer = answerTo(new DomainError(kind, 'some_code', 'Do this.', { agentId: 'agt_1' }));
    expect(answer.status).toBe(status);
    expect(answer.body).toEqual({ detail: { code: 'some_code', message: 'Do this.', agentId: 'agt_1' } });
  });

  it.each([
    new DomainError('internal', 'db_broken', 'at 10.0.0.1', { host: 'x' }),
    new TypeError('undefined is not a function'),
    new HttpException('teapot', 418),
    Object.assign(new Error('pg'), { code: '23505', statusCode: 409 }),
    'a thrown text',
    undefined,
  ])('says nothing of %s', (error) => {
    const { status, body } = answerTo(error);
    expect(status).toBe(500);
    expect(body).toMatchObject({ detail: { code: 'internal_error' } });
    expect(JSON.stringify(body)).not.toMatch(/10\.0|undefined|teapot|pg/);
  });

  it('cannot be talked into another code by context', () => {
    const { body } = answerTo(new DomainError('conflict', 'real', 'm', { code: 'fake', message: 'fake' }));
    expect(body.detail).toEqual({ code: 'real', message: 'm' });
  });

  it.each([
    [undefined, '1'],
    [0, '1'],
    [0.2, '1'],
    [59.01, '60'],
    [Number.NaN, '1'],
  ])('turns %s seconds to wait into Retry-After %s', (retryAfterSeconds, header) => {
    const context = retryAfterSeconds === undefined ? {} : { retryAfterSeconds };
    expect(answerTo(new DomainError('exhausted', 'rate_limited', 'm', context)).headers).toEqual({
      'retry-after': header,
    });
  });

  it('always has fields on invalid_request', () => {
    expect(answerTo(new DomainError('invalid', 'invalid_request', 'm')).body.detail).toMatchObject({
      fields: [],
    });
    const both = invalidRequest([
      { path: 'a', message: 'is bad' },
      { path: 'b', message: 'too' },
    ]);
    expect(answerTo(both).body.detail).toMatchObject({
      message: 'a: is bad (1 more in fields)',
      fields: [{ path: 'a' }, { path: 'b' }],
    });
  });

  it('tells what the broker found too large in bytes', () => {
    const error = new DomainError('too_large', 'payload_too_large', 'm', { maxBytes: 1_000 });
    expect(answerTo(error).body.detail).toMatchObject({ code: 'payload_too_large', limitBytes: 1_000 });
  });

  it('puts code and message first, and lets no context change them', () => {
    const context = { agentId: 'agt_1', code: 'other', message: 'other' };
    const { detail } = answerTo(new DomainError('conflict', 'agent_name_taken', 'm', context)).body;
    expect(JSON.stringify(detail)).toBe('{"code":"agent_name_taken","message":"m","agentId":"agt_1"}');
  });

  it('keeps the headers of a refusal of its own', () => {
    const refusal = new HttpRefusal(405, 'method_not_allowed', 'm', {}, { allow: 'GET' });
    expect(answerTo(refusal)).toMatchObject({ status: 405, headers: { allow: 'GET' } });
  });
});
