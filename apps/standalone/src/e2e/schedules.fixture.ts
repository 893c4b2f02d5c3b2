import { Api, type ApiResponse } from './api.fixture.js';
import { Executions } from './executions.fixture.js';

/** An entry as the API lists it. */
export interface ListedSchedule {
  readonly id: string;
  readonly cron: string | null;
  readonly tz: string | null;
  readonly nextRunAt: string | null;
  readonly prompt: string | null;
  readonly source: string;
  readonly nextWakeAt: string | null;
  readonly lastRunAt: string | null;
  readonly lastError: { readonly code: string; readonly message: string; readonly at: string } | null;
}

/** One call of the agent to Berth's API. */
export interface InsideCall {
  readonly method?: string;
  readonly path?: string;
  readonly body?: unknown;
  /** By default the agent's own. */
  readonly token?: string;
}

/** What one agent publishes, from inside, with its own token over the guest's relay. */
export class AgentSchedules {
  readonly executions: Executions;

  constructor(
    private readonly api: Api,
    readonly agentId: string,
  ) {
    this.executions = new Executions(api, agentId);
  }

  async call({
    method = 'PUT',
    path = '/agent/v1/schedules',
    body,
    token,
  }: InsideCall): Promise<InsideReply> {
    const script = `
      const response = await fetch(process.env.BERTH_API_URL + ${JSON.stringify(path)}, {
        method: ${JSON.stringify(method)},
        headers: {
          authorization: 'Bearer ' + ${token === undefined ? 'process.env.BERTH_AGENT_TOKEN' : JSON.stringify(token)},
          'content-type': 'application/json',
        },
        body: ${body === undefined ? 'undefined' : JSON.stringify(JSON.stringify(body))},
      });
      console.log(JSON.stringify({ status: response.status, body: await response.json() }));`;
    const { body: done } = await this.executions.run(['node', '--input-type=module', '-e', script]);
    if (done.exitCode !== 0) throw new Error(`The call from inside failed: ${JSON.stringify(done)}`);
    return JSON.parse(done.stdout) as InsideReply;
  }

  publish(...entries: readonly object[]): Promise<InsideReply> {
    return this.call({ body: { entries } });
  }

  list(key?: string): Promise<ApiResponse<{ readonly items: readonly ListedSchedule[] }>> {
    return this.api.get(`/api/agents/${this.agentId}/schedules`, key === undefined ? {} : { key });
  }

  async only(): Promise<ListedSchedule> {
    const { status, body } = await this.list();
    const [entry, ...others] = body.items;
    if (status !== 200 || entry === undefined || others.length > 0)
      throw new Error(`The list is not one entry: ${JSON.stringify(body)}`);
    return entry;
  }

  async agent(): Promise<Record<string, unknown>> {
    return (await this.api.get(`/api/agents/${this.agentId}`)).body;
  }

  async sleep(): Promise<void> {
    await this.api.post(`/api/agents/${this.agentId}/sleep`);
  }
}

export interface InsideReply {
  readonly status: number;
  readonly body: Record<string, unknown>;
}

/** ISO 8601, so many milliseconds from now. */
export const fromNow = (millis: number): string => new Date(Date.now() + millis).toISOString();
