import type { EventData } from '@berth/event-store';
import type { BoxHistory, Happening, Price } from './recount-history.js';

const DAY = 86_400_000;

interface Sizes {
  readonly vcpus: number;
  readonly memMb: number;
  readonly diskGb: number;
}

/** What one agent or computer used on one day. Times in milliseconds; sizes in millionths of a CPU, MiB and GiB. */
export interface RecountedDay {
  readonly day: number;
  activeMs: bigint;
  vcpu: bigint;
  mem: bigint;
  disk: bigint;
  wakes: number;
  chats: number;
  executions: number;
  actions: number;
  screenshots: number;
  llmRequests: number;
  inputTokens: number;
  outputTokens: number;
  ai: bigint;
  /** Metered hosting in fractions: the millionths of a cent are `numerator / FRACTIONS`. */
  numerator: bigint;
}

/** Milliseconds of an hour × millionths of a CPU × MiB of a GiB × hours of a month. */
export const FRACTIONS = 3_600_000n * 1_000_000n * 1_024n * 730n;

/** A time in which a box did not change, in one day and under one price. */
interface Moment {
  readonly from: number;
  readonly to: number;
  readonly running: boolean;
  readonly sizes: Sizes;
}

/** The days of one agent or computer up to `asOf`, by day. */
export const recountBox = (
  { happenings }: BoxHistory,
  prices: readonly Price[],
  asOf: number,
): ReadonlyMap<number, RecountedDay> => {
  const days = new Map<number, RecountedDay>();
  const [created] = happenings;
  if (created === undefined) return days;
  const deletion = happenings.find(({ type }) => type === 'BoxDeletionRequested');
  const end = deletion === undefined ? asOf : Math.max(deletion.at, created.at);
  dayAt(days, created.at);
  const cuts = prices.map(({ from }) => from);
  for (const whole of momentsOf(happenings, end))
    for (const moment of cutAt(whole, cuts))
      addMoment(
        dayAt(days, moment.from),
        moment,
        prices.findLast(({ from }) => from <= moment.from),
      );
  for (const one of happenings) addUse(days, one);
  addMessages(days, happenings);
  addWakes(days, happenings);
  return days;
};

const dayAt = (days: Map<number, RecountedDay>, at: number): RecountedDay => {
  const day = Math.floor(at / DAY);
  const found = days.get(day) ?? {
    ...{ day, activeMs: 0n, vcpu: 0n, mem: 0n, disk: 0n, wakes: 0, chats: 0, executions: 0 },
    ...{ actions: 0, screenshots: 0, llmRequests: 0, inputTokens: 0, outputTokens: 0, ai: 0n, numerator: 0n },
  };
  days.set(day, found);
  return found;
};

const sizesOf = (data: EventData): Sizes => {
  const sizes = data['resources'] as unknown as Sizes;
  return { ...sizes, vcpus: Math.round(sizes.vcpus * 1_000_000) };
};

const ENDS = /^Box(Starting|Stopping|FellAsleep|Stopped|Failed|DeletionRequested)$/;

/** The life of a box as times without a change, until `end`. */
const momentsOf = (happenings: readonly Happening[], end: number): readonly Moment[] => {
  const [created] = happenings;
  if (created === undefined) return [];
  const life = happenings.filter(({ type }) => type.startsWith('Box'));
  const running = runningTimes(life, end);
  let sizes = sizesOf(created.data);
  const changes = [{ from: created.at, sizes }];
  for (const { type, at, data } of life) {
    if (type !== 'BoxResized') continue;
    const next = sizesOf(data);
    sizes = { ...next, diskGb: Math.max(sizes.diskGb, next.diskGb) };
    changes.push({ from: at, sizes });
  }
  const cuts = [...running.flatMap(({ from, to }) => [from, to]), ...changes.map(({ from }) => from)];
  return cutAt({ from: created.at, to: end }, cuts).map(({ from, to }) => ({
    from,
    to,
    running: running.some((time) => time.from <= from && to <= time.to),
    sizes: changes.findLast((change) => change.from <= from)?.sizes ?? sizes,
  }));
};

interface Time {
  readonly from: number;
  readonly to: number;
}

const runningTimes = (life: readonly Happening[], end: number): readonly Time[] => {
  const times: Time[] = [];
  let since: number | null = null;
  const stop = (to: number): void => {
    if (since !== null && to > since) times.push({ from: since, to });
    since = null;
  };
  for (const { type, at, data } of life) {
    if (type === 'BoxStarted') since ??= at;
    else if (type === 'BoxRanUnseen') since ??= Math.min(at, Date.parse(String(data['since'])));
    else if (type === 'BoxUnseen') stop(Math.min(at, Date.parse(String(data['since']))));
    else if (ENDS.test(type)) stop(at);
    if (type === 'BoxDeletionRequested') return times;
  }
  stop(end);
  return times;
};

/** The parts of a time between these moments and the midnights in it. */
const cutAt = <T extends Time>(time: T, moments: readonly number[]): readonly T[] => {
  const inside = new Set(moments.filter((at) => at > time.from && at < time.to));
  for (let midnight = (Math.floor(time.from / DAY) + 1) * DAY; midnight < time.to; midnight += DAY)
    inside.add(midnight);
  const ends = [...inside, time.to].sort((a, b) => a - b);
  let from = time.from;
  return ends.flatMap((to) => {
    const part = { ...time, from, to };
    from = to;
    return part.to > part.from ? [part] : [];
  });
};

const addMoment = (
  day: RecountedDay,
  { from, to, running, sizes }: Moment,
  price: Price | undefined,
): void => {
  const millis = BigInt(to - from);
  const [vcpu, mem, disk] = [BigInt(sizes.vcpus), BigInt(sizes.memMb), BigInt(sizes.diskGb)].map(
    (size) => millis * size,
  ) as [bigint, bigint, bigint];
  day.disk += disk;
  day.numerator += disk * (price?.diskGbMonth ?? 0n) * 1_000_000n * 1_024n;
  if (!running) return;
  day.activeMs += millis;
  day.vcpu += vcpu;
  day.mem += mem;
  day.numerator += vcpu * (price?.vcpuHour ?? 0n) * 1_024n * 730n;
  day.numerator += mem * (price?.memGbHour ?? 0n) * 1_000_000n * 730n;
};

const addUse = (days: Map<number, RecountedDay>, { type, at, data }: Happening): void => {
  if (/^(WebhookDelivered|PromptHandedOver)$/.test(type)) dayAt(days, at).chats++;
  else if (type === 'WebhookFailed' && FAILED_INSIDE.test(String(data['code']))) dayAt(days, at).chats++;
  else if (EXECUTIONS.test(type)) dayAt(days, at).executions++;
  else if (type === 'ActionsDone') addActions(dayAt(days, at), data);
  else if (type === 'ScreenshotsTaken') dayAt(days, at).screenshots += Number(data['count']);
  else if (type.startsWith('LlmCall')) addCall(dayAt(days, at), data);
};

const EXECUTIONS = /^(ExecutionSubmitted|OlderExecutionSubmitted|BoxCommandRun)$/;

const addActions = (day: RecountedDay, { results, images }: EventData): void => {
  day.actions += Number(results);
  day.screenshots += Number(images);
};

/** Failures of a message that the program of the agent had. */
const FAILED_INSIDE = /^(agent_error|agent_timeout|insufficient_credits|spend_cap_reached)$/;

/** A message counts when the log first says that the program got it. */
const addMessages = (days: Map<number, RecountedDay>, happenings: readonly Happening[]): void => {
  const got = new Set<unknown>();
  for (const { type, at, data } of happenings) {
    const isGot =
      type === 'MessageAnswered' || (type === 'MessageFailed' && FAILED_INSIDE.test(String(data['code'])));
    if (!isGot || got.has(data['deliveryId'])) continue;
    got.add(data['deliveryId']);
    dayAt(days, at).chats++;
  }
};

const addCall = (day: RecountedDay, { tokens, cost }: EventData): void => {
  const { input = 0, output = 0 } = (tokens ?? {}) as { input?: number; output?: number };
  day.llmRequests++;
  day.inputTokens += input;
  day.outputTokens += output;
  day.ai += BigInt(String(cost ?? '0'));
};

/** A start is a wake if it was asked for while the agent slept or was stopped, or on the way there. */
const addWakes = (days: Map<number, RecountedDay>, happenings: readonly Happening[]): void => {
  let last = '';
  for (const { type, at, data } of happenings) {
    if (type === 'BoxDeletionRequested') return;
    if (type === 'BoxStarting') {
      const rested = /^Box(Stopping|FellAsleep|Stopped)$/.test(last);
      const cause = data['cause'];
      // A wake that finds the agent running met a host that had frozen it and not reported that yet.
      const wakes =
        cause === 'wake'
          ? rested || last === 'BoxStarted'
          : rested && (cause === 'start' || cause === 'restart');
      if (wakes) dayAt(days, at).wakes++;
    }
    if (/^Box(Starting|Started|Stopping|FellAsleep|Stopped|Failed)$/.test(type)) last = type;
  }
};
