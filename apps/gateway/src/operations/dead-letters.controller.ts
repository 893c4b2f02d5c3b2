import { operationsRequests, SERVICES_WITH_TABLES, type DeadLetterView } from '@berth/contracts/operations';
import { pageQuery, type PageQuery } from '@berth/contracts/schema';
import { isDomainError, type Page, type RequestDefinition } from '@berth/kernel';
import { Requester } from '@berth/messaging';
import { decodeCursor, encodeCursor } from '@berth/persistence';
import { Controller, Delete, Get, Param, Post, Query } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { Route } from '../http/route.decorator.js';
import { deadLetterOf } from './operations.resources.js';

const REQUESTS = SERVICES_WITH_TABLES.map(operationsRequests);

/** The end of a page: the index of a service, and that service's cursor, null at its start. */
type PagePosition = readonly [service: number, cursor: string | null];

@ApiTags('Operations')
@Controller('api/v1/operations/dead-letters')
export class DeadLettersController {
  constructor(private readonly requester: Requester) {}

  @Route({
    accepts: { key: 'operate' },
    query: pageQuery,
    summary: 'List events that a service could not handle',
    description: 'Sorted by service and consumer, oldest first. The payload of an event is never shown.',
    responses: [{ status: 200, description: 'One page.', schema: 'DeadLetterPage' }],
  })
  @Get()
  async list(@Query() { cursor, limit }: PageQuery): Promise<Page<DeadLetterView>> {
    let [service, within]: PagePosition =
      cursor === undefined ? [0, null] : decodeCursor<PagePosition>(cursor, isPagePosition);
    const items: DeadLetterView[] = [];
    for (; service < REQUESTS.length; service++, within = null) {
      const definition = REQUESTS[service]?.listDeadLetters;
      if (definition === undefined) break;
      const page = await this.requester.request(definition, {
        cursor: within,
        limit: limit - items.length,
      });
      items.push(...page.items);
      if (page.nextCursor !== null) return { items, nextCursor: encodeCursor([service, page.nextCursor]) };
      const isLast = service === REQUESTS.length - 1;
      if (items.length >= limit && !isLast) return { items, nextCursor: encodeCursor([service + 1, null]) };
    }
    return { items, nextCursor: null };
  }

  @Route({
    accepts: { key: 'operate' },
    resource: deadLetterOf('id'),
    summary: 'Handle the event of a dead letter again',
    description:
      'The dead letter is deleted once its consumer has handled the event; it stays, with the latest reason, if that fails again. Idempotent.',
    responses: [{ status: 202, description: 'The event is being handled again, or already was.' }],
    errors: ['dead_letter_not_found'],
  })
  @Post(':id/replay')
  async replay(@Param('id') id: string): Promise<void> {
    await this.#requestEach((requests) => requests.replayDeadLetter, id);
  }

  @Route({
    accepts: { key: 'operate' },
    resource: deadLetterOf('id'),
    summary: 'Delete a dead letter',
    description: 'Its event stays unhandled.',
    responses: [{ status: 204, description: 'Deleted.' }],
    errors: ['dead_letter_not_found'],
  })
  @Delete(':id')
  async delete(@Param('id') id: string): Promise<void> {
    await this.#requestEach((requests) => requests.deleteDeadLetter, id);
  }

  /** Only the service of its consumer stores a dead letter. */
  async #requestEach(
    definitionOf: (
      requests: (typeof REQUESTS)[number],
    ) => RequestDefinition<{ readonly id: string }, unknown>,
    id: string,
  ): Promise<void> {
    for (const requests of REQUESTS) {
      try {
        await this.requester.request(definitionOf(requests), { id });
        return;
      } catch (error) {
        if (!isDomainError(error, 'not_found')) throw error;
      }
    }
    throw deadLetterOf('id').notFound();
  }
}

const isPagePosition = (value: unknown): boolean =>
  Array.isArray(value) &&
  value.length === 2 &&
  Number.isInteger(value[0]) &&
  value[0] >= 0 &&
  value[0] < REQUESTS.length &&
  (value[1] === null || typeof value[1] === 'string');
