const METER = 'apps/billing/src/meter/box-meter.ts';
const RECOUNT_SPEC = 'apps/billing/src/recount.int-spec.ts';
const PRICE = 'apps/billing/src/pricing/day-price.ts';
const PRICE_SPEC = 'apps/billing/src/pricing/day-price.spec.ts';

/** Usage, plans and the operator's file. */
export const USAGE = [
  {
    guarantee: 'The range of usage is whole days in UTC.',
    file: 'apps/billing/src/usage-list/usage-range.ts',
    find: 'to: Math.ceil(end / DAY_MS) };',
    replace: 'to: Math.floor(end / DAY_MS) + 1 };',
    test: 'apps/billing/src/usage-list/usage-range.spec.ts',
    title: 'stays at midnight, and reaches the day of its first and its last millisecond',
  },
  {
    guarantee: 'A range of usage has at most 400 days.',
    file: 'apps/billing/src/usage-list/usage-range.ts',
    find: 'if (range.to - range.from > MAX_USAGE_DAYS)',
    replace: 'if (range.to - range.from > MAX_USAGE_DAYS + 1)',
    test: 'apps/billing/src/usage-list/usage-range.spec.ts',
    title: 'has at most 400 days and is not reversed',
  },
  {
    guarantee: 'A figure of usage is rounded half up at its last decimal.',
    file: 'apps/billing/src/usage-list/usage-view.ts',
    find: 'const doubled = 2 * times * Number(value) + by;',
    replace: 'const doubled = 2 * times * Number(value) + by - 1;',
    test: 'apps/billing/src/usage-list/usage-view.spec.ts',
    title: 'rounds each figure half up, at its last decimal',
  },
  {
    guarantee: 'Active time ends when the agent rests, and warm sleep is not active.',
    file: 'apps/billing/src/meter/readings.ts',
    find: "FellAsleep: simply('resting'),",
    replace: 'FellAsleep: () => null,',
    test: RECOUNT_SPEC,
    title:
      'have the same rows and the same cents in a recount from the log alone, for each day, open intervals included',
  },
  {
    guarantee: 'A message counts once, however many attempts say that it was handed over.',
    file: 'apps/billing/src/meter/usage-ledger.ts',
    find: 'if (retriable !== null && this.state.failedChats.has(retriable.deliveryId)) return;',
    replace: '',
    test: 'apps/billing/src/meter/usage-fact.spec.ts',
    title: 'counts once, however many attempts say that it was handed over',
  },
  {
    guarantee: 'A wake is a start from sleeping or stopped.',
    file: METER,
    find: "(cause === 'start' || cause === 'restart') && state === 'resting';",
    replace: "cause === 'start' && state === 'resting';",
    test: RECOUNT_SPEC,
    title:
      'have the same rows and the same cents in a recount from the log alone, for each day, open intervals included',
  },
  {
    guarantee: 'Volumes never shrink in the account either.',
    file: METER,
    find: 'sizes: { ...sizes, diskGb: Math.max(meter.sizes.diskGb, sizes.diskGb) },',
    replace: 'sizes,',
    test: RECOUNT_SPEC,
    title:
      'have the same rows and the same cents in a recount from the log alone, for each day, open intervals included',
  },
  {
    guarantee: 'The daily rows add up to the rows of agents, and both to the totals, exactly.',
    file: 'apps/billing/src/usage-list/usage-sql.ts',
    find: 'coalesce(sum(hosting), 0) AS all_hosting,',
    replace: 'coalesce(max(hosting), 0) AS all_hosting,',
    test: RECOUNT_SPEC,
    title: 'add up: the rows of all days to the row of each agent, and both to the totals, exactly',
  },
  {
    guarantee: "What is left over of a day's share goes to the most active agents.",
    file: 'apps/billing/src/usage-list/usage-sql.ts',
    find: 'floored + CASE WHEN rank <= share - day_floored THEN 1 ELSE 0 END AS hosting',
    replace: 'floored AS hosting',
    test: RECOUNT_SPEC,
    title:
      'have the same rows and the same cents in a recount from the log alone, for each day, open intervals included',
  },
  {
    guarantee: "A month's price is shared by its days, with what is left over on the first.",
    file: PRICE,
    find: 'const isFirst = BigInt(date.getUTCDate()) <= monthPrice % days;',
    replace: 'const isFirst = BigInt(date.getUTCDate()) < monthPrice % days;',
    test: PRICE_SPEC,
    title:
      'is shared equally over its days, with the millionths that are left over on the first days, and adds up',
  },
  {
    guarantee: 'A day is charged by the plan in force at its end.',
    file: PRICE,
    find: 'const end = Math.min((day + 1) * DAY_MS - 1, asOf);',
    replace: 'const end = Math.min((day + 1) * DAY_MS, asOf);',
    test: PRICE_SPEC,
    title: 'is charged by the plan in force at its end: a change at midnight counts from the next day on',
  },
  {
    guarantee: 'A change of rates never counts backwards.',
    file: 'apps/billing/src/meter/usage-ledger.ts',
    find: 'const since = Math.max(at, this.state.latestMs, last?.since ?? 0);',
    replace: 'const since = Math.max(Math.min(at, 0), last?.since ?? 0);',
    test: 'apps/billing/src/pricing/reread-prices.int-spec.ts',
    title: 'counts from the moment on at which SIGHUP had it read, and what was used before keeps its price',
  },
  {
    guarantee: 'Usage of a deleted end user shows null in place of names.',
    file: 'apps/billing/src/meter/usage-ledger.ts',
    find: 'this.newlyForgotten.add(fact.endUserId);',
    replace: '',
    test: 'apps/billing/src/usage-filters.int-spec.ts',
    title: 'keeps its rows and totals without names and external ids, also after a rebuild',
  },
  {
    guarantee: 'Usage of one end user has only its rows.',
    file: 'apps/billing/src/usage-list/usage-sql.ts',
    find: '`AND ${column} = ${boxId}`',
    replace: '`AND ${column} >= ${boxId}`',
    test: 'apps/billing/src/usage-filters.int-spec.ts',
    title: 'has only the rows of that agent or end user, and totals of these rows alone',
  },
  {
    guarantee: 'Hosting of computers costs nothing on a seat plan.',
    file: 'apps/billing/src/usage-list/usage-sql.ts',
    find: 'hasSeatDays ? `CASE WHEN ${isMetered} THEN ${price} ELSE 0 END` : price;',
    replace: 'price;',
    test: 'apps/billing/src/computer-prices.int-spec.ts',
    title:
      'on a seat plan is nothing, on the day of a change by the plan at its end, and agents alone share the seats',
  },
  {
    guarantee: 'Every image that a computer returns is counted.',
    file: 'apps/billing/src/meter/computers.kind.ts',
    find: "screenshots: count(data, 'images')",
    replace: 'screenshots: 0n',
    test: 'apps/billing/src/meter/computers.kind.spec.ts',
    title: 'counts results, images, executions, wakes, activity and disk, however the events are batched',
  },
  {
    guarantee: 'Cents are shown exactly.',
    file: 'libs/kernel/src/money.ts',
    find: ".padStart(PLACES, '0')",
    replace: ".padEnd(PLACES, '0')",
    test: 'libs/kernel/src/money.spec.ts',
    title: '%s millionths are shown without trailing zeros, as text and as a number',
  },
  {
    guarantee: 'A fault of the operator’s file keeps the settings before it in force.',
    file: 'libs/platform/operator-file/src/operator-settings.ts',
    find: "log.error({ err: error }, 'the operator’s file is not valid; its earlier content stays in force');",
    replace: "this.file = read('', true, []);\n        log.error({ err: error }, 'invalid');",
    test: 'libs/platform/operator-file/src/operator-settings.spec.ts',
    title: 'stay in force if the file has a fault, or if the named file is gone',
  },
  {
    guarantee: 'A plan that is in use cannot be removed.',
    file: 'libs/platform/operator-file/src/parse-operator-file.ts',
    find: '...missingPlans(plansOf(value.plans), plansInUse),',
    replace: '...missingPlans(plansOf(value.plans), plansInUse.slice(plansInUse.length)),',
    test: 'libs/platform/operator-file/src/operator-settings.spec.ts',
    title: 'cannot be removed: the earlier file stays in force, with everything in it',
  },
  {
    guarantee: 'An unknown member of the operator’s file is a fault of its line.',
    file: 'libs/platform/operator-file/src/section.schema.ts',
    find: 'additionalProperties: false,',
    replace: 'additionalProperties: true,',
    test: 'libs/platform/operator-file/src/parse-operator-file.spec.ts',
    title: '%j is a fault of a line and a member',
  },
];
