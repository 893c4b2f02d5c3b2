import type { IncomingMessage } from 'node:http';
import { describe, expect, it } from 'vitest';
import { callersFields, forwardedHeaders, isOurAuthorization } from './request-headers.js';

const FACTS = {
  requestId: 'req_1',
  clientAddress: '192.0.2.7',
  scheme: 'https',
  externalUserId: null,
} as const;
const TO_APP = { headers: { host: 'App.test' } } as IncomingMessage;

describe('the statements of Berth for a program', () => {
  it('are the address, the scheme and the host of the caller, and who the end user is, if the caller is one', () => {
    const stated = [
      ...['X-Forwarded-For', '192.0.2.7', 'X-Forwarded-Proto', 'https', 'X-Forwarded-Host', 'App.test'],
    ];
    expect(forwardedHeaders(TO_APP, FACTS)).toEqual(stated);
    expect(forwardedHeaders(TO_APP, { ...FACTS, externalUserId: 'ada@example' })).toEqual([
      ...stated,
      'X-Berth-External-User-Id',
      'ada@example',
    ]);
  });
});

describe('the headers for a program', () => {
  it('are those of the caller, in their order and spelling', () => {
    const own = ['Host', 'App.test', 'X-Own', 'a', 'x-own', 'b', 'Idempotency-Key', 'k'];
    expect(callersFields(own)).toEqual(own);
  });

  it.each([
    ['X-Forwarded-For', '1.1.1.1'],
    ['x-forwarded-user', 'root'],
    ['X_Forwarded_For', '1.1.1.1'],
    ['Forwarded', 'for=1.1.1.1'],
    ['X-Berth-External-User-Id', 'root'],
    ['x-berth-anything', 'x'],
    ['X-Berth_External-User_Id', 'root'],
    ['X-Request-Id', 'mine'],
    ['Content_Length', '7'],
    ['Transfer_Encoding', 'chunked'],
    ['Authorization', 'Bearer mk_x'],
    ['authorization', 'bearer  eu_x'],
    ['Authorization', 'Bearer at_x'],
    ['Cookie', 'berth_app=sealed'],
    ['Cookie', ' __Host-berth_app=sealed ; berth_app=x'],
  ])('do not include %s: %s', (name, value) => {
    expect(callersFields([name, value, 'X-Own', 'a'])).toEqual(['X-Own', 'a']);
  });

  it('include credentials and cookies of the app itself', () => {
    for (const value of ['Basic bWtfeDp4', 'Bearer mine', 'Bearer mkx', 'Digest eu_x'])
      expect(callersFields(['Authorization', value])).toEqual(['Authorization', value]);
    expect(callersFields(['Cookie', 'a=1; berth_app=sealed; b=berth_app'])).toEqual([
      'Cookie',
      'a=1; b=berth_app',
    ]);
    expect(callersFields(['Cookie', 'a=1;  b="x; y"'])).toEqual(['Cookie', 'a=1;  b="x; y"']);
  });
});

describe('an Authorization header', () => {
  it.each([
    ['Bearer mk_x', true],
    ['BEARER eu_', true],
    ['Bearer\t eu_x', true],
    ['Bearer at_x y', true],
    ['Bearer mkx_', false],
    ['Basic mk_x', false],
    ['mk_x', false],
    ['', false],
  ])('%j is ours: %s', (value, isOurs) => expect(isOurAuthorization(value)).toBe(isOurs));
});
