import { nextWakeRequests } from '@berth/contracts/agents';
import type { PublishSchedules, ReportPolledSchedules } from '@berth/contracts/schedules';
import { Clock, DomainError, type CommandEnvelope } from '@berth/kernel';
import { Requester } from '@berth/messaging';
import { Inject, Injectable } from '@nestjs/common';
import { DueListQuery } from '../due-list/due-list.query.js';
import { parseEntries, type FieldProblem, type ParsedEntry } from '../entries/parse-entries.js';
import { SealedPrompts } from '../entries/sealed-prompts.js';
import { ScheduleStreams } from '../schedule/schedule.streams.js';
import type { Source } from '../schedule/schedule.js';
import { NextWakes } from './next-wakes.js';

/** The lists that agents push, and those that hosts poll. */
@Injectable()
export class PublishCommandHandler {
  constructor(
    private readonly streams: ScheduleStreams,
    private readonly prompts: SealedPrompts,
    private readonly dueList: DueListQuery,
    private readonly nextWakes: NextWakes,
    @Inject(Requester) private readonly requester: Pick<Requester, 'request'>,
    private readonly clock: Clock,
  ) {}

  /** Errors: see `schedulesRequests.publish`. */
  async push({ agentId, entries, ...origin }: PublishSchedules): Promise<{ readonly entries: number }> {
    const parsed = parseEntries(entries);
    if ('problems' in parsed) throw invalidSchedule(parsed.problems);
    await this.publish(origin, agentId, 'pushed', parsed.entries);
    return { entries: parsed.entries.length };
  }

  /** Errors: see `schedulesRequests.reportPolled`. */
  async poll(report: ReportPolledSchedules): Promise<{ readonly problem: string | null }> {
    const { commandId, accountId, agentId, entries } = report;
    const parsed = parseEntries(entries);
    if ('problems' in parsed) return { problem: wordsOf(parsed.problems) };
    const origin = { commandId, accountId, actor: { kind: 'agent', id: agentId } } as const;
    await this.publish(origin, agentId, 'polled', parsed.entries);
    return { problem: null };
  }

  private async publish(
    origin: CommandEnvelope,
    agentId: string,
    source: Source,
    parsed: readonly ParsedEntry[],
  ): Promise<void> {
    const { accountId } = origin;
    const agent = await this.requester.request(nextWakeRequests.ownerOf, { accountId, agentId });
    const sealed = await this.prompts.seal(agentId, agent.endUserId, parsed);
    const firedBefore = await this.dueList.fired(agentId, parsed);
    const now = this.clock.now();
    const command = { type: 'Publish', agentId, accountId, source, ...sealed, firedBefore, now } as const;
    await this.nextWakes.tell(agentId, await this.streams.handle(agentId, command, origin));
  }
}

const wordsOf = ([{ path, message }]: readonly [FieldProblem, ...FieldProblem[]]): string =>
  `${path} ${message}`;

const invalidSchedule = (problems: readonly [FieldProblem, ...FieldProblem[]]): DomainError =>
  new DomainError('invalid', 'invalid_schedule', `The list was not changed: ${wordsOf(problems)}.`, {
    fields: problems,
  });
