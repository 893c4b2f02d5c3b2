import { describe, expect, it } from 'vitest';
import { headersForCaller, headersForUpstream } from './passed-headers.js';

describe('the headers for the upstream', () => {
  it('are those of the list, as the caller sent them', () => {
    const passed = {
      'content-type': 'application/json; charset=utf-8',
      accept: 'text/event-stream',
      'idempotency-key': 'k-1',
      'anthropic-version': '2023-06-01',
      'anthropic-beta': 'a-1,b-2',
      'user-agent': 'sdk/1',
    };
    expect(headersForUpstream(passed)).toEqual({ ...passed, 'accept-encoding': 'identity' });
  });

  it('never are credentials, cookies, organisations, addresses or anything else', () => {
    const headers = {
      authorization: 'Bearer agent-token',
      'x-api-key': 'agent-token',
      cookie: 'a=b',
      'openai-organization': 'org',
      'openai-project': 'proj',
      'openai-beta': 'assistants=v2',
      'x-forwarded-for': '10.0.0.1',
      'x-forwarded-host': 'internal',
      forwarded: 'for=10.0.0.1',
      host: 'internal',
      connection: 'keep-alive',
      'content-length': '5',
      'accept-encoding': 'gzip',
      traceparent: '00-1',
      'x-stainless-lang': 'js',
    };
    expect(headersForUpstream(headers)).toEqual({
      'content-type': 'application/json',
      'accept-encoding': 'identity',
    });
  });
});

describe('the headers for the caller', () => {
  it('are the type, the time to wait, the id of the request and the rate limits', () => {
    const passed = {
      'content-type': 'text/event-stream',
      'retry-after': '7',
      'x-request-id': 'req_1',
      'request-id': 'req_2',
      'x-ratelimit-limit-requests': '60',
      'x-ratelimit-remaining-tokens': '10',
      'anthropic-ratelimit-input-tokens-reset': '2026-11-23T00:00:00Z',
    };
    expect(headersForCaller(passed)).toEqual(passed);
  });

  it('never are cookies, organisations, addresses or anything else', () => {
    const headers = {
      'set-cookie': ['a=b'],
      'openai-organization': 'org',
      'openai-project': 'proj',
      'openai-processing-ms': '5',
      'anthropic-organization-id': 'org',
      'x-forwarded-for': '10.0.0.1',
      'www-authenticate': 'Bearer',
      location: 'https://elsewhere.example',
      server: 'upstream',
      connection: 'close',
      'transfer-encoding': 'chunked',
      'content-length': '5',
      'my-x-request-id': '1',
      'x-ratelimit': '1',
    };
    expect(headersForCaller(headers)).toEqual({});
  });
});
