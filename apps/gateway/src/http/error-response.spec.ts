import { DomainError, storageFull, type ErrorKind } from '@berth/kernel';
import { HttpException } from '@nestjs/common';
import { describe, expect, it } from 'vitest';
import { errorResponse } from './error-response.js';
import { HttpRefusal, invalidRequest } from './http-refusal.js';

describe('errorResponse', () => {
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
    ['full', 507],
  ])('turns %s into %i with code, message and context', (kind, status) => {
    const response = errorResponse(new DomainError(kind, 'some_code', 'Do this.', { agentId: 'agt_1' }));
    expect(response.status).toBe(status);
    expect(response.body).toEqual({ detail: { code: 'some_code', message: 'Do this.', agentId: 'agt_1' } });
  });

  it.each([
    new DomainError('internal', 'db_broken', 'at 10.0.0.1', { host: 'x' }),
    new TypeError('undefined is not a function'),
    new HttpException('teapot', 418),
    Object.assign(new Error('pg'), { code: '23505', statusCode: 409 }),
    'a thrown text',
    undefined,
  ])('reveals nothing about %s', (error) => {
    const { status, body } = errorResponse(error);
    expect(status).toBe(500);
    expect(body).toMatchObject({ detail: { code: 'internal_error' } });
    expect(JSON.stringify(body)).not.toMatch(/10\.0|undefined|teapot|pg/);
  });

  it('says that the request may have been done, except in a literal detail', () => {
    const caveat = { mayHaveBeenDone: true };
    for (const error of [
      new DomainError('unavailable', 'service_unavailable', 'm'),
      new DomainError('conflict', 'agent_stopped', 'm'),
      new HttpRefusal(429, 'rate_limited', 'm'),
      new TypeError('m'),
    ])
      expect(errorResponse(error, caveat).body.detail).toMatchObject(caveat);
    const literal = new DomainError('unavailable', 'guest_command_unavailable', 'm');
    expect(errorResponse(literal, caveat)).toEqual(errorResponse(literal));
    expect(
      errorResponse(new DomainError('unavailable', 'service_unavailable', 'm')).body.detail,
    ).not.toHaveProperty('mayHaveBeenDone');
  });

  it('does not let the context override the code', () => {
    const { body } = errorResponse(
      new DomainError('conflict', 'real', 'm', { code: 'fake', message: 'fake' }),
    );
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
    expect(errorResponse(new DomainError('exhausted', 'rate_limited', 'm', context)).headers).toEqual({
      'retry-after': header,
    });
  });

  it('says that a disk is full, and when to try again', () => {
    const { status, headers, body } = errorResponse(storageFull({ effect: 'none' }));
    expect({ status, headers }).toEqual({ status: 503, headers: { 'retry-after': '5' } });
    expect(body.detail).toEqual({
      code: 'service_unavailable',
      message: expect.stringContaining('disk') as string,
      reason: 'storage_full',
      retryAfterSeconds: 5,
    });
  });

  it('always has fields on invalid_request', () => {
    expect(errorResponse(new DomainError('invalid', 'invalid_request', 'm')).body.detail).toMatchObject({
      fields: [],
    });
    const both = invalidRequest([
      { path: 'a', message: 'is bad' },
      { path: 'b', message: 'too' },
    ]);
    expect(errorResponse(both).body.detail).toMatchObject({
      message: 'a: is bad (1 more in fields)',
      fields: [{ path: 'a' }, { path: 'b' }],
    });
  });

  it('reports the limit in bytes if the broker rejects a message as too large', () => {
    const error = new DomainError('too_large', 'payload_too_large', 'm', { maxBytes: 1_000 });
    expect(errorResponse(error).body.detail).toMatchObject({ code: 'payload_too_large', limitBytes: 1_000 });
  });

  it('puts code and message first, and does not let the context change them', () => {
    const context = { agentId: 'agt_1', code: 'other', message: 'other' };
    const { detail } = errorResponse(new DomainError('conflict', 'agent_name_taken', 'm', context)).body;
    expect(JSON.stringify(detail)).toBe('{"code":"agent_name_taken","message":"m","agentId":"agt_1"}');
  });

  it('keeps the headers of an `HttpRefusal`', () => {
    const refusal = new HttpRefusal(405, 'method_not_allowed', 'm', {}, { allow: 'GET' });
    expect(errorResponse(refusal)).toMatchObject({ status: 405, headers: { allow: 'GET' } });
  });
});
