import { join } from 'node:path';
import { decideGiven, fold, isoTime } from '@berth/kernel';
import { describeGoldenEvents } from '@berth/testing';
import { describe, expect, it } from 'vitest';
import { scheduleDecider, type ScheduleCommand } from './schedule.decider.js';
import { scheduleCodec } from './schedule.events.js';
import type { FiringEnded, PublishedEntry, ScheduleEvent, ScheduleFired } from './schedule.js';

describeGoldenEvents(join(import.meta.dirname, '__events__'), scheduleCodec, {
  SchedulesPublished: true,
  ScheduleFired: true,
  PromptHandedOver: true,
  FiringEnded: true,
  SchedulesForgotten: true,
});

const NOON = Date.UTC(2026, 10, 21, 12);
const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const ids = { agentId: 'agt_1', accountId: 'acc_1' };

/** The history of one agent's schedules, at a clock that the test moves. */
class History {
  readonly events: ScheduleEvent[] = [];
  now = NOON;

  constructor(private readonly firedBefore: readonly string[] = []) {}

  get state() {
    return fold(scheduleDecider, this.events);
  }

  publish(...entries: readonly Partial<PublishedEntry>[]): readonly ScheduleEvent[] {
    return this.list('pushed', entries);
  }

  poll(...entries: readonly Partial<PublishedEntry>[]): readonly ScheduleEvent[] {
    return this.list('polled', entries);
  }

  fire(entryId = 'a', dueAt = this.wakeOf(entryId)): readonly ScheduleEvent[] {
    const deliveryId = `dlv_${entryId}_${String(dueAt)}`;
    const due = [{ agentId: 'agt_1', entryId, dueAt, deliveryId }];
    return this.given({ type: 'Fire', agentId: 'agt_1', due, now: this.now });
  }

  end(event: ScheduleEvent | undefined, error: FiringEnded['error'] = null): readonly ScheduleEvent[] {
    const { deliveryId } = event as ScheduleFired;
    const ended = { type: 'End', agentId: 'agt_1', deliveryId, ran: error === null, error } as const;
    return this.given({ ...ended, now: this.now });
  }

  given(command: ScheduleCommand): readonly ScheduleEvent[] {
    const { events, refusal } = decideGiven(scheduleDecider, this.events, command);
    if (refusal instanceof Error) throw refusal;
    this.events.push(...events);
    return events;
  }

  /** Milliseconds; NaN if the entry does not fire again. */
  wakeOf(id = 'a'): number {
    return Date.parse(this.state.entries.find((entry) => entry.id === id)?.nextWakeAt ?? '');
  }

  private list(source: 'pushed' | 'polled', entries: readonly Partial<PublishedEntry>[]) {
    const full = entries.map((entry) => ({ ...NOTHING, ...entry }));
    const { firedBefore, now } = this;
    const digest = JSON.stringify(full);
    return this.given({ type: 'Publish', ...ids, source, digest, entries: full, firedBefore, now });
  }
}

const NOTHING: PublishedEntry = { id: 'a', cron: null, tz: null, nextRunAt: null, prompt: null };
const at = (millis: number): Partial<PublishedEntry> => ({ nextRunAt: isoTime(millis) });
const cron = (expression: string): Partial<PublishedEntry> => ({ cron: expression });

describe('an entry with nextRunAt', () => {
  it('fires then, and never again', () => {
    const history = new History();
    history.publish(at(NOON + HOUR));
    expect(history.wakeOf()).toBe(NOON + HOUR);
    expect(history.fire('a', NOON + HOUR)).toEqual([]);
    history.now = NOON + HOUR + 300;
    expect(history.fire()).toMatchObject([
      {
        type: 'ScheduleFired',
        runAt: isoTime(NOON + HOUR),
        dueAt: isoTime(NOON + HOUR),
        entryNextWakeAt: null,
      },
    ]);
    expect(history.wakeOf()).toBeNaN();
    history.publish(at(NOON + HOUR));
    expect(history.wakeOf()).toBeNaN();
  });

  it('never fires again although its list was cleared in between, nor if only the projection remembers it', () => {
    const history = new History();
    history.publish(at(NOON));
    history.fire();
    history.publish();
    history.publish(at(NOON));
    expect(history.wakeOf()).toBeNaN();
    const later = new History(['a']);
    later.publish(at(NOON + HOUR));
    expect(later.wakeOf()).toBeNaN();
  });

  it('fires at once if its time has passed', () => {
    const history = new History();
    history.publish(at(NOON - HOUR));
    expect(history.wakeOf()).toBe(NOON);
    expect(history.fire()).toMatchObject([{ runAt: isoTime(NOON - HOUR), dueAt: isoTime(NOON) }]);
  });

  it('takes precedence over cron, which follows', () => {
    const history = new History();
    history.publish({ ...cron('0 * * * *'), ...at(NOON + 90 * MINUTE) });
    expect(history.wakeOf()).toBe(NOON + 90 * MINUTE);
    history.now = NOON + 90 * MINUTE;
    history.fire();
    expect(history.wakeOf()).toBe(NOON + 2 * HOUR);
    history.now = NOON + 2 * HOUR;
    expect(history.fire()).toMatchObject([{ runAt: null }]);
    const known = new History(['a']);
    known.publish({ ...cron('0 * * * *'), ...at(NOON - HOUR) });
    known.now = NOON + HOUR;
    expect(known.fire()).toMatchObject([{ runAt: null, dueAt: isoTime(NOON + HOUR) }]);
  });

  it('fires again at another time', () => {
    const history = new History();
    history.publish(at(NOON));
    history.fire();
    history.publish(at(NOON + HOUR));
    expect(history.wakeOf()).toBe(NOON + HOUR);
  });
});

describe('an entry with cron', () => {
  it('fires at each of its times', () => {
    const history = new History();
    history.publish({ ...cron('0 9 * * *'), tz: 'Europe/Berlin' });
    for (const day of [22, 23, 24]) {
      expect(history.wakeOf()).toBe(Date.UTC(2026, 10, day, 8));
      history.now = history.wakeOf() + 800;
      expect(history.fire()).toHaveLength(1);
    }
  });

  it('fires once for all the times that were missed', () => {
    const history = new History();
    history.publish(cron('0 * * * *'));
    history.now = NOON + 5 * HOUR + 20 * MINUTE;
    expect(history.fire()).toMatchObject([{ dueAt: isoTime(NOON + HOUR) }]);
    expect(history.wakeOf()).toBe(NOON + 6 * HOUR);
  });

  it('keeps the time that is due when the same list, or one with another prompt, is published at the last moment', () => {
    const history = new History();
    history.publish(cron('0 * * * *'));
    history.now = NOON + HOUR + 200;
    history.publish(cron('0 * * * *'), { id: 'b', ...cron('0 * * * *') });
    history.publish({ ...cron('0 * * * *'), prompt: { endUserId: null, data: 'other' } });
    expect(history.wakeOf()).toBe(NOON + HOUR);
  });
});

describe('when the clock of the machine is set', () => {
  it('back by an hour, no time fires twice', () => {
    const history = new History();
    history.publish(cron('0 * * * *'), { id: 'once', ...at(NOON + HOUR) });
    history.now = NOON + HOUR;
    history.fire();
    history.fire('once');
    history.now = NOON + 100;
    expect(history.wakeOf()).toBe(NOON + 2 * HOUR);
    expect([history.fire('a', NOON + HOUR), history.fire('a'), history.fire('once')]).toEqual([[], [], []]);
  });

  it('forward by an hour, what was skipped fires once', () => {
    const history = new History();
    history.publish(cron('*/10 * * * *'));
    history.now = NOON + HOUR;
    expect(history.fire()).toHaveLength(1);
    expect(history.wakeOf()).toBe(NOON + HOUR + 10 * MINUTE);
    expect(history.fire('a', NOON + 10 * MINUTE)).toEqual([]);
  });
});

describe('one id', () => {
  it('fires at most once a minute: what falls closer is moved to the end of that minute', () => {
    const history = new History();
    history.publish({ ...cron('* * * * *'), ...at(NOON + 30_000) });
    history.now = NOON + 30_000;
    history.fire();
    expect(history.wakeOf()).toBe(NOON + 90_000);
    history.publish(at(NOON + 31_000));
    expect(history.wakeOf()).toBe(NOON + 90_000);
    history.publish();
    history.publish(at(NOON - HOUR), { id: 'b', ...at(NOON - HOUR) });
    expect([history.wakeOf('a'), history.wakeOf('b')]).toEqual([NOON + 90_000, NOON + 30_000]);
  });

  it('is not delayed by a missed time that fires late', () => {
    const history = new History();
    history.publish(cron('* * * * *'));
    history.now = NOON + HOUR + 50_000;
    history.fire();
    expect(history.wakeOf()).toBe(NOON + HOUR + MINUTE);
  });
});

describe('a list', () => {
  it('that is polled unchanged replaces nothing, not even a list that was pushed since', () => {
    const history = new History();
    expect(history.poll(cron('@daily'))).toHaveLength(1);
    history.publish({ id: 'pushed', ...cron('@daily') });
    expect(history.poll(cron('@daily'))).toEqual([]);
    expect(history.state).toMatchObject({ source: 'pushed', entries: [{ id: 'pushed' }] });
    expect(history.poll(cron('@weekly'))).toHaveLength(1);
    expect(history.state).toMatchObject({ source: 'polled', entries: [{ cron: '@weekly' }] });
    expect(history.publish()).toHaveLength(1);
    expect(history.state.entries).toEqual([]);
  });

  it('that is polled first and is empty clears nothing', () => {
    const history = new History();
    history.publish(cron('@daily'));
    expect(history.poll()).toEqual([]);
    history.poll(cron('@weekly'));
    expect(history.poll()).toHaveLength(1);
  });

  it('is refused once the agent is deleted', () => {
    const history = new History();
    history.publish(cron('@daily'));
    history.given({ type: 'Forget', ...ids, now: NOON });
    expect(history.state.entries).toEqual([]);
    expect(() => history.publish(cron('@daily'))).toThrow(
      expect.objectContaining({ code: 'agent_not_found' }),
    );
  });
});

describe('a firing', () => {
  const refused = { code: 'agent_stopped', message: 'Stopped.' };

  it('that runs is the last run, and clears the last error', () => {
    const history = new History();
    history.publish(cron('0 * * * *'));
    history.now = NOON + HOUR;
    const [first] = history.fire();
    history.end(first, refused);
    expect(history.state.entries).toMatchObject([{ lastRunAt: null, lastError: refused }]);
    history.now = NOON + 2 * HOUR;
    const [second] = history.fire();
    history.end(second);
    expect(history.state.entries).toMatchObject([{ lastRunAt: isoTime(NOON + 2 * HOUR), lastError: null }]);
    expect(history.state.firings).toEqual([]);
  });

  it('that is refused is not repeated', () => {
    const history = new History();
    history.publish(at(NOON));
    const [fired] = history.fire();
    history.end(fired, refused);
    expect(history.state.entries).toMatchObject([{ nextWakeAt: null, lastError: refused }]);
    expect(history.end(fired)).toEqual([]);
  });

  it('records a prompt as handed over, but not a wake without a prompt or a prompt that was not taken', () => {
    const prompt = { endUserId: null, data: 'Tea.' };
    const typesOfEnd = (entry: Partial<PublishedEntry>, error: FiringEnded['error'] = null) => {
      const history = new History();
      history.publish({ ...at(NOON), ...entry });
      const [event] = history.fire();
      return history.end(event, error).map(({ type }) => type);
    };
    expect(typesOfEnd({ prompt })).toEqual(['PromptHandedOver', 'FiringEnded']);
    expect(typesOfEnd({ prompt: null })).toEqual(['FiringEnded']);
    expect(typesOfEnd({ prompt }, { code: 'agent_stopped', message: 'x' })).toEqual(['FiringEnded']);
  });

  it('stays open, with its prompt, when its entry is removed', () => {
    const prompt = { endUserId: null, data: 'Tea.' };
    const history = new History();
    history.publish({ ...at(NOON), prompt });
    const [fired] = history.fire();
    history.publish();
    expect(history.state.firings).toMatchObject([{ entryId: 'a', prompt }]);
    expect(history.end(fired).map(({ type }) => type)).toEqual(['PromptHandedOver', 'FiringEnded']);
  });
});
