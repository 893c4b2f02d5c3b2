import type { OwnerOfAgent } from '@berth/contracts/agents';
import type { PublishSchedules, ReportPolledSchedules } from '@berth/contracts/schedules';
import { Clock, DomainError, type CommandEnvelope } from '@berth/kernel';
import { Injectable } from '@nestjs/common';
import { DueListQuery } from '../due-list/due-list.query.js';
import { parseEntries, type FieldProblem, type ParsedEntry } from '../entries/parse-entries.js';
import { OwnersOfAgents } from '../entries/owners-of-agents.js';
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
    private readonly owners: OwnersOfAgents,
    private readonly clock: Clock,
  ) {}

  /** Errors: see `schedulesRequests.publish`. */
  async push({ agentId, entries, ...origin }: PublishSchedules): Promise<{ readonly entries: number }> {
    const parsed = parseEntries(entries);
    if ('problems' in parsed) throw invalidSchedule(parsed.problems);
    const owner = await this.owners.within(origin.accountId, agentId);
    await this.publish({ agentId, source: 'pushed', entries: parsed.entries }, owner, origin);
    return { entries: parsed.entries.length };
  }

  /** Errors: see `schedulesRequests.reportPolled`. */
  async poll(report: ReportPolledSchedules): Promise<{ readonly problem: string | null }> {
    const { commandId, agentId, entries } = report;
    const parsed = parseEntries(entries);
    if ('problems' in parsed) return { problem: wordsOf(parsed.problems) };
    const owner = await this.owners.of(agentId);
    const origin = {
      commandId,
      accountId: owner.accountId,
      actor: { kind: 'agent', id: agentId },
    } as const;
    await this.publish({ agentId, source: 'polled', entries: parsed.entries }, owner, origin);
    return { problem: null };
  }

  private async publish(
    { agentId, source, entries }: PublishedList,
    { accountId, endUserId }: OwnerOfAgent,
    origin: CommandEnvelope,
  ): Promise<void> {
    const sealed = await this.prompts.seal(agentId, endUserId, entries);
    const firedBefore = await this.dueList.fired(agentId, entries);
    const now = this.clock.now();
    const command = { type: 'Publish', agentId, accountId, source, ...sealed, firedBefore, now } as const;
    await this.nextWakes.tell(agentId, await this.streams.handle(agentId, command, origin));
  }
}

interface PublishedList {
  readonly agentId: string;
  readonly source: Source;
  readonly entries: readonly ParsedEntry[];
}

const wordsOf = ([{ path, message }]: readonly [FieldProblem, ...FieldProblem[]]): string =>
  `${path} ${message}`;

const invalidSchedule = (problems: readonly [FieldProblem, ...FieldProblem[]]): DomainError =>
  new DomainError('invalid', 'invalid_schedule', `The list was not changed: ${wordsOf(problems)}.`, {
    fields: problems,
  });
