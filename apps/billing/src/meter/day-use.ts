import { weightsOf, type TermsPeriod } from '../pricing/terms.js';
import type { Span } from './agent-meter.js';
import type { LlmCall } from './usage-fact.js';
import { DAY_MS, dayOf } from './utc-day.js';

/** What an agent used on one day (UTC), as sums that later ones are added to. */
export interface DayUse {
  active_ms: bigint;
  /** Milliseconds × millionths of a CPU. */
  vcpu: bigint;
  /** Milliseconds × MiB. */
  mem: bigint;
  /** Milliseconds × GiB. */
  disk: bigint;
  /** Metered hosting in `METERED_PARTS` of a millionth of a cent. */
  metered: bigint;
  wakes: number;
  chats: number;
  executions: number;
  llm_requests: number;
  input_tokens: number;
  output_tokens: number;
  /** Cost of LLM calls in millionths of a cent. */
  ai: bigint;
}

export const noUse = (): DayUse => ({
  ...{ active_ms: 0n, vcpu: 0n, mem: 0n, disk: 0n, metered: 0n },
  ...{ wakes: 0, chats: 0, executions: 0 },
  ...{ llm_requests: 0, input_tokens: 0, output_tokens: 0, ai: 0n },
});

/** The parts of a span that each lie in one day. */
export const byDay = ({ from, to }: Pick<Span, 'from' | 'to'>): readonly DayPart[] => {
  const parts: DayPart[] = [];
  for (let start = from; start < to;) {
    const day = dayOf(start);
    const end = Math.min(to, (day + 1) * DAY_MS);
    parts.push({ day, from: start, to: end });
    start = end;
  }
  return parts;
};

interface DayPart {
  readonly day: number;
  readonly from: number;
  readonly to: number;
}

/** Adds a span, which lies in the day, with its price in the periods. */
export const addSpan = (use: DayUse, span: Span, periods: readonly TermsPeriod[]): void => {
  const { kind, from, to, sizes } = span;
  const millis = BigInt(to - from);
  if (kind === 'active') {
    use.active_ms += millis;
    use.vcpu += millis * BigInt(sizes.vcpuMicros);
    use.mem += millis * BigInt(sizes.memMb);
  } else {
    use.disk += millis * BigInt(sizes.diskGb);
  }
  for (const period of periods) use.metered += meteredIn(span, period);
};

export const addCall = (use: DayUse, { inputTokens, outputTokens, cost }: LlmCall): void => {
  use.llm_requests++;
  use.input_tokens += inputTokens;
  use.output_tokens += outputTokens;
  use.ai += cost;
};

const meteredIn = ({ kind, from, to, sizes }: Span, period: TermsPeriod): bigint => {
  const millis = Math.min(to, period.to) - Math.max(from, period.from);
  if (millis <= 0) return 0n;
  const { vcpu, mem, disk } = weightsOf(period.plan);
  const each =
    kind === 'active'
      ? BigInt(sizes.vcpuMicros) * vcpu + BigInt(sizes.memMb) * mem
      : BigInt(sizes.diskGb) * disk;
  return BigInt(millis) * each;
};
