import { boxOwner } from '@berth/contracts/runtime';
import { schedulesRequests } from '@berth/contracts/schedules';
import type { PolledSchedules } from '@berth/guest-protocol';
import { newId, type Json } from '@berth/kernel';
import { Requester } from '@berth/messaging';
import { HostIdentity } from '@berth/service';
import { pause } from '@berth/supervision';
import { Logger } from '@berth/telemetry';
import { Inject, Injectable, Optional } from '@nestjs/common';
import type { PollsOfSchedules } from '../agent/hosted-agent-deps.js';
import type { GuestClient } from '../guest/guest-client.js';
import { SystemLog } from '../logs/system-log.js';

/** Every wake is followed by a poll within 10 s; by then most programs have settled. */
const FIRST_MS = 1_000;
const EVERY_MS = 60_000;
/** After `schedules` could not be reached. */
const RETRY_MS = 3_000;

/** Injection token of the function that waits, for a clock of a test's own. */
const WAIT = Symbol('wait');

/** The results of the earlier polls since one wake. */
interface Earlier {
  /** JSON of the last list that `schedules` has. */
  readonly reported: string | null;
  readonly problem: string | null;
}

/** Polls the programs of awake agents for their schedules. A poll is not activity and never delays a sleep. */
@Injectable()
export class SchedulePolls implements PollsOfSchedules {
  constructor(
    private readonly host: HostIdentity,
    @Inject(Requester) private readonly requester: Pick<Requester, 'request'>,
    @Inject(SystemLog) private readonly systemLog: Pick<SystemLog, 'add'>,
    private readonly log: Logger,
    @Optional() @Inject(WAIT) private readonly wait: typeof pause = pause,
  ) {}

  /** Polls until `signal` aborts, which happens before the agent is frozen or ended; a computer has no schedules. */
  async follow(agentId: string, guest: Pick<GuestClient, 'schedules'>, signal: AbortSignal): Promise<void> {
    if (boxOwner(agentId) === 'computers') return;
    let earlier: Earlier = { reported: null, problem: null };
    let waitMs = FIRST_MS;
    for (;;) {
      await this.wait(waitMs, signal);
      if (signal.aborted) return;
      waitMs = EVERY_MS;
      try {
        earlier = await this.poll(agentId, guest, signal, earlier);
      } catch (error) {
        if (signal.aborted) return;
        waitMs = RETRY_MS;
        this.log.debug({ agentId, err: error }, 'could not poll the schedules of an agent');
      }
    }
  }

  private async poll(
    agentId: string,
    guest: Pick<GuestClient, 'schedules'>,
    signal: AbortSignal,
    earlier: Earlier,
  ): Promise<Earlier> {
    const polled = await guest.schedules(signal);
    if (polled.state === 'none') return earlier;
    if (polled.state === 'list' && JSON.stringify(polled.entries) === earlier.reported) return earlier;
    const problem = polled.state === 'failed' ? polled.problem : await this.report(agentId, polled.entries);
    // An unchanged problem is logged once for each wake, not once a minute.
    if (problem !== null && problem !== earlier.problem)
      await this.systemLog.add(agentId, 'warn', `GET /schedules of the program was ignored: ${problem}.`);
    return { problem, reported: reportedBy(polled, problem) ?? earlier.reported };
  }

  /** Returns why the list is not valid, or null. */
  private async report(agentId: string, entries: Json): Promise<string | null> {
    const { id: host } = this.host;
    const report = { commandId: newId('cmd'), host, agentId, entries };
    return (await this.requester.request(schedulesRequests.reportPolled, report, { host })).problem;
  }
}

const reportedBy = (polled: PolledSchedules, problem: string | null): string | null =>
  polled.state === 'list' && problem === null ? JSON.stringify(polled.entries) : null;
