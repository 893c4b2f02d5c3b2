import { describe, expect, it } from 'vitest';
import { WireNames } from './wire-names.js';

describe('names on the broker', () => {
  const names = new WireNames('Team_2-eu');

  it('contain the name of the installation', () => {
    expect(names.subject('cmd.agents.create.v1')).toBe('Team_2-eu.cmd.agents.create.v1');
    expect(names.queue('agents')).toBe('Team_2-eu.agents');
    expect(names.eventStream('end-users')).toBe('Team_2-eu_EVT_END_USERS');
    expect(names.deadLetterStream('llm')).toBe('Team_2-eu_DLQ_LLM');
    expect(names.inboxPrefix('agents')).toBe('_INBOX.Team_2-eu.agents');
  });

  it('map back to the logical subject, except those of another installation', () => {
    expect(names.logical(names.subject('evt.agents.started.v1.a.b'))).toBe('evt.agents.started.v1.a.b');
    expect(names.logical('berth.evt.agents.started.v1.a.b')).toBe('berth.evt.agents.started.v1.a.b');
  });

  it('are `berth.…` by default', () => {
    expect(new WireNames().subject('qry.agents.get.v1')).toBe('berth.qry.agents.get.v1');
  });

  it.each(['', 'a.b', 'a b', '*', '>', 'käse', 'x'.repeat(33)])('reject the installation name "%s"', (name) =>
    expect(() => new WireNames(name)).toThrow(/letters, digits/),
  );

  it('reject a context that is not a token', () => {
    expect(() => names.eventStream('a.b')).toThrow(/context/);
  });
});
