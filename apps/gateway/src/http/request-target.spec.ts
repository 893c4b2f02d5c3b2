import type { IncomingMessage } from 'node:http';
import { describe, expect, it } from 'vitest';
import { routableTarget } from './request-target.js';

const target = (url: string): string => routableTarget({ url } as IncomingMessage);

describe('the target of a request', () => {
  it.each([
    ['http://x/api/agents?a=b', '/api/agents?a=b'],
    ['HTTPS://x:1/health', '/health'],
    ['http://x', '/'],
    ['http://x?a=b', '/?a=b'],
    ['/api/http://x/y', '/api/http://x/y'],
    ['*', '*'],
  ])('of %s is %s for the router and all hooks', (sent, read) => expect(target(sent)).toBe(read));
});
