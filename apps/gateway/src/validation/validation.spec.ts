import { IsOptional } from 'class-validator';
import { describe, expect, it } from 'vitest';
import { fillFromBody, fillFromQuery } from './dto-validation.js';
import { parseIsoTime } from './iso-time.js';
import { FromQuery, Inside } from './nested-rules.js';
import { IsText, IsWithin, listOf, objectOf } from './rules.js';
import { textProblem } from './text-rule.js';

class Inner {
  @IsText({ max: 3 })
  readonly name!: string;
}

class Base {
  @FromQuery('integer')
  @IsOptional()
  @IsWithin(1, 10)
  readonly limit: number = 5;
}

class Outer extends Base {
  @IsOptional()
  @Inside(objectOf(Inner))
  readonly one?: Inner | null;

  @IsOptional()
  @Inside(listOf(Inner, 2))
  readonly many?: readonly Inner[] | null;

  @FromQuery('boolean')
  @IsOptional()
  readonly flag?: boolean;
}

describe('a body', () => {
  it('becomes instances, without members that are not declared', () => {
    const { dto, problems } = fillFromBody(Outer, {
      one: { name: 'a', x: 1 },
      many: [{ name: 'b' }],
      other: 1,
      toString: 'x',
    });
    expect(problems).toEqual([]);
    expect(dto.one).toBeInstanceOf(Inner);
    expect(JSON.parse(JSON.stringify(dto))).toEqual({ limit: 5, one: { name: 'a' }, many: [{ name: 'b' }] });
  });

  it('is checked to its depth, with dotted paths', () => {
    const { problems } = fillFromBody(Outer, { limit: '5', one: [], many: [{ name: 'long' }, null] });
    expect(problems.map(({ path }) => path)).toEqual(['limit', 'one', 'many.0.name', 'many.1']);
  });

  it('is not looked into beyond its bounds', () => {
    const { problems } = fillFromBody(Outer, { many: [1, 2, 3] });
    expect(problems).toEqual([{ path: 'many', message: 'must hold at most 2 items' }]);
  });

  it.each([null, [], 'text', 5, true])('%j is no object', (body) => {
    expect(fillFromBody(Outer, body).problems).toEqual([
      { path: '', message: 'The body must be a JSON object.' },
    ]);
  });
});

describe('a query', () => {
  it('converts members to the types declared by the class and its parents', () => {
    expect(fillFromQuery(Outer, { limit: '7', flag: 'true' }).dto).toMatchObject({ limit: 7, flag: true });
    expect(fillFromQuery(Outer, {}).dto.limit).toBe(5);
  });

  it.each(['', ' 7', '7.0', '7e0', '0x7', '11', '0', '-1', '99999999999999999999', ['1', '2']])(
    'refuses the number %j',
    (limit) => {
      expect(fillFromQuery(Outer, { limit }).problems.map(({ path }) => path)).toEqual(['limit']);
    },
  );
});

describe('a text', () => {
  it('holds neither NUL nor half a surrogate pair, which no table takes', () => {
    expect(textProblem('a\0b', { max: 9 })).toBeDefined();
    expect(textProblem('a\ud800', { max: 9 })).toBeDefined();
    expect(textProblem('😀', { max: 2 })).toBeUndefined();
  });
});

describe('an ISO 8601 time', () => {
  it.each([
    ['2026-01-31', '2026-01-31T00:00:00.000Z'],
    ['2026-01-31T12:00Z', '2026-01-31T12:00:00.000Z'],
    ['2026-01-31T12:00:00.5+02:00', '2026-01-31T10:00:00.500Z'],
    ['2024-02-29T00:00:00Z', '2024-02-29T00:00:00.000Z'],
  ])('%s is %s', (text, iso) => expect(new Date(parseIsoTime(text) ?? Number.NaN).toISOString()).toBe(iso));

  it.each([
    '',
    '2026',
    '2026-02-30',
    '2025-02-29',
    '2026-13-01',
    '2026-01-31T12:00:00',
    '31.01.2026',
    'now',
    5,
    null,
  ])('is not %j', (value) => expect(parseIsoTime(value)).toBeUndefined());
});
