import { aboutComputer } from '@berth/contracts/computers';
import type { EventData } from '@berth/event-store';
import type { MeteredKind } from './metered-kind.js';
import { factReader, lifeReadings, SHARED_CATEGORIES, text, time } from './readings.js';
import type { UsageFact } from './usage-fact.js';

const used = (data: EventData, amounts: Readonly<Record<string, bigint>>): UsageFact => ({
  about: 'use',
  use: { boxId: text(data, 'computerId'), at: time(data), amounts, retriable: null },
});

const count = (data: EventData, member: string): bigint => BigInt(Number(data[member] ?? 0));

/** Computers, and what is counted of them. */
export const COMPUTERS: MeteredKind = {
  tables: {
    boxes: 'computer_usage_computers',
    days: 'computer_usage_days',
    terms: 'computer_usage_terms',
    plans: 'computer_usage_plans',
    forgotten: 'computer_usage_forgotten',
    latest: 'computer_usage_latest',
  },
  id: 'computer_id',
  idMember: 'computerId',
  names: ['name', 'external_user_id'],
  uses: ['actions', 'screenshots', 'executions'],
  sharesSeats: false,
  categories: [...SHARED_CATEGORIES, 'computer', 'computerUse'],
  factOf: factReader({
    ...lifeReadings('Computer', 'computerId'),
    ActionsDone: (data) =>
      used(data, { actions: count(data, 'results'), screenshots: count(data, 'images') }),
    ComputerCommandRun: (data) => used(data, { executions: 1n }),
    ScreenshotsTaken: (data) => used(data, { screenshots: count(data, 'count') }),
  }),
  about: aboutComputer,
};
