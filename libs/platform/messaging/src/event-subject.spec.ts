import { describe, expect, it } from 'vitest';
import { commonFilter, matchesFilter, parseEventSubject } from './event-subject.js';

describe('event subjects', () => {
  it('are read into their parts', () => {
    expect(parseEventSubject('evt.end-users.spend-capped.v2.acc_1.eus_2')).toEqual({
      context: 'end-users',
      name: 'spend-capped',
      version: 2,
      accountId: 'acc_1',
      subjectId: 'eus_2',
    });
  });

  it.each([
    'evt.agents.started.v1.acc_1',
    'evt.agents.started.1.a.b',
    'cmd.a.b.v1.c.d',
    'evt.a.b.v1.c.*',
    'evt.a.b.v1.c.d.e',
  ])('are not %s', (subject) => expect(parseEventSubject(subject)).toBeUndefined());

  it.each([
    ['a.b', 'a.b', true],
    ['a.*', 'a.b', true],
    ['a.>', 'a.b.c', true],
    ['>', 'a', true],
    ['a.>', 'a', false],
    ['a.*', 'a', false],
    ['a.*', 'a.b.c', false],
    ['a.b', 'a', false],
    ['*', 'a.b', false],
  ])('filter %s on %s: %s', (filter, subject, matches) =>
    expect(matchesFilter(filter, subject)).toBe(matches),
  );

  it.each([
    [['e.a.s.v1.*.*'], 'e.a.s.v1.*.*'],
    [['e.a.s.v1.*.*', 'e.a.t.v1.*.*'], 'e.a.*.v1.*.*'],
    [['e.a.s.v1.x.*', 'e.a.>'], 'e.a.>'],
    [['e.a', 'e.a.b'], 'e.>'],
    [['e.a.b', 'e.a'], 'e.>'],
    [['e.>', 'e.a'], 'e.>'],
  ] as const)('have a common filter: %s -> %s', (filters, common) => {
    const [first, ...others] = filters;
    expect(commonFilter([first, ...others])).toBe(common);
    for (const filter of filters) {
      const subject = filter.replaceAll('*', 'q').replace('>', 'q');
      expect(!matchesFilter(filter, subject) || matchesFilter(common, subject)).toBe(true);
    }
  });
});
