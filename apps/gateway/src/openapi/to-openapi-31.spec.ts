import { describe, expect, it } from 'vitest';
import { toOpenApi31 } from './to-openapi-31.js';

describe('what 3.0 calls nullable', () => {
  it.each([
    [{ type: 'string', nullable: true }, { type: ['string', 'null'] }],
    [
      { type: 'string', enum: ['a'], nullable: true },
      { type: ['string', 'null'], enum: ['a', null] },
    ],
    [{ oneOf: [{ type: 'string' }], nullable: true }, { oneOf: [{ type: 'string' }, { type: 'null' }] }],
    [{ allOf: [{ $ref: '#/x' }], nullable: true }, { anyOf: [{ $ref: '#/x' }, { type: 'null' }] }],
    [{ $ref: '#/x', nullable: true }, { anyOf: [{ $ref: '#/x' }, { type: 'null' }] }],
    [{ type: 'string', nullable: false }, { type: 'string' }],
    [
      { properties: { a: [{ type: 'integer', nullable: true }] } },
      { properties: { a: [{ type: ['integer', 'null'] }] } },
    ],
  ])('%j is %j in 3.1', (before, after) => expect(toOpenApi31(before)).toEqual(after));
});
