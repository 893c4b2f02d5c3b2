import type { Api } from './api.fixture.js';

/** One call of the load, and its response. Times are `Date.now()`. */
export interface CountedCall {
  readonly mark: string;
  readonly kind: 'chat' | 'exec';
  readonly agentId: string;
  readonly sentAt: number;
  readonly respondedAt: number;
  /** 0: the connection failed. */
  readonly status: number;
  readonly code: string | undefined;
  /** Whether the response says that the request is done. */
  readonly isDone: boolean;
  readonly executionId: string | undefined;
}

interface LoadResponse {
  readonly status?: string;
  readonly executionId?: string;
  readonly detail?: { readonly code?: string; readonly executionId?: string };
}

/** Limit of concurrent calls: a machine that is too slow for the rate gets fewer. */
const MAX_OPEN = 40;

/** Sends calls at a steady rate, chats and commands in turn; each leaves its own mark in the agent's volume. */
export class CountedLoad {
  readonly calls: CountedCall[] = [];
  readonly #open = new Set<Promise<void>>();
  readonly #timer: NodeJS.Timeout;
  #sent = 0;

  constructor(
    private readonly api: Api,
    private readonly agents: readonly string[],
    perSecond: number,
  ) {
    this.#timer = setInterval(() => this.#send(), 1_000 / perSecond);
  }

  /** Stops sending, and waits for every response. */
  async stop(): Promise<void> {
    clearInterval(this.#timer);
    await Promise.all(this.#open);
  }

  between(from: number, to: number): readonly CountedCall[] {
    return this.calls.filter(({ sentAt }) => sentAt >= from && sentAt < to);
  }

  #send(): void {
    if (this.#open.size >= MAX_OPEN) return;
    const number = this.#sent++;
    const kind = number % 2 === 0 ? 'chat' : 'exec';
    const agentId = this.agents[Math.floor(number / 2) % this.agents.length] ?? '';
    const call = this.#call(kind, `m${String(number)}`, agentId, Math.floor(number / 4) % 2).finally(() =>
      this.#open.delete(call),
    );
    this.#open.add(call);
  }

  async #call(kind: CountedCall['kind'], mark: string, agentId: string, gateway: number): Promise<void> {
    const body =
      kind === 'chat'
        ? { message: `mark ${mark}`, conversation_id: mark }
        : { command: `echo "$(date +%s%3N) ${mark}" >> marks`, timeout: 20 };
    const sentAt = Date.now();
    const response = await this.api
      .post<LoadResponse>(`/api/agents/${agentId}/${kind}`, body, { gateway })
      .catch(() => undefined);
    this.calls.push({
      ...{ mark, kind, agentId, sentAt, respondedAt: Date.now() },
      status: response?.status ?? 0,
      code: response?.body.detail?.code,
      isDone: response?.status === 200 && (kind === 'chat' || response.body.status === 'completed'),
      executionId: response?.body.executionId ?? response?.body.detail?.executionId,
    });
  }
}

/** Returns when each mark was left, read from the agents' volumes. */
export const readMarks = async (
  api: Api,
  agents: readonly string[],
): Promise<ReadonlyMap<string, readonly number[]>> => {
  const left = new Map<string, number[]>();
  for (const agentId of agents) {
    const { status, body } = await api.post<{ stdout: string }>(`/api/agents/${agentId}/exec`, {
      command: 'cat marks',
    });
    if (status !== 200) throw new Error(`The marks cannot be read: ${String(status)}.`);
    for (const line of body.stdout.trim().split('\n')) {
      const [at = '', mark = ''] = line.split(' ');
      left.set(mark, [...(left.get(mark) ?? []), Number(at)]);
    }
  }
  return left;
};
