import { defineRequest, type CommandEnvelope, type Json } from '@berth/kernel';

/** An entry as the API lists it. Times are ISO 8601. */
export interface ScheduleView {
  readonly id: string;
  readonly cron: string | null;
  readonly tz: string | null;
  readonly nextRunAt: string | null;
  readonly prompt: string | null;
  readonly source: 'polled' | 'pushed';
  readonly nextWakeAt: string | null;
  readonly lastRunAt: string | null;
  readonly lastError: {
    readonly code: string;
    readonly message: string;
    readonly at: string;
  } | null;
}

export interface PublishSchedules extends CommandEnvelope {
  readonly agentId: string;
  /** The entries as the agent sent them. */
  readonly entries: Json;
}

/** The response of an agent's program to `GET /schedules`. */
export interface ReportPolledSchedules {
  /** The same id sent twice takes effect once. */
  readonly commandId: string;
  readonly host: string;
  readonly agentId: string;
  readonly entries: Json;
}

export interface ListSchedules {
  readonly accountId: string;
  readonly agentId: string;
}

/** The requests that `schedules` handles. Errors: not_found `agent_not_found`. */
export const schedulesRequests = {
  /** Replaces the list of the agent. Errors: invalid `invalid_schedule` with `fields`. */
  publish: defineRequest<PublishSchedules, { readonly entries: number }>(
    'cmd.schedules.publish.v1',
    undefined,
    { whenLost: 'repeat' },
  ),
  /** Replaces the list of the agent unless it is the last polled one. `problem`: why it is not valid, or null. */
  reportPolled: defineRequest<ReportPolledSchedules, { readonly problem: string | null }>(
    'cmd.schedules.report-polled.v1.{from}',
    undefined,
    { whenLost: 'repeat' },
  ),
  list: defineRequest<ListSchedules, { readonly items: readonly ScheduleView[] }>('qry.schedules.list.v1'),
};
