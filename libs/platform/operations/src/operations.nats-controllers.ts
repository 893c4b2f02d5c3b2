import {
  operationsRequests,
  type DeadLetterRef,
  type DeadLetterView,
  type ListDeadLetters,
  type ProjectionView,
  type RebuildProjection,
  type ServiceHealth,
} from '@berth/contracts/operations';
import type { Page } from '@berth/kernel';
import { HandleRequest } from '@berth/messaging';
import { Controller, Inject, type Type } from '@nestjs/common';
import { Payload } from '@nestjs/microservices';
import { DeadLetterOperations } from './dead-letter-operations.js';
import { HealthCheck } from './health-check.js';
import { Projections } from './projections.js';

/** The controllers of `operationsRequests(context)`. */
export const operationsControllers = (context: string): Type[] => [
  projectionsController(context),
  deadLettersController(context),
  healthController(context),
];

/** For a service that has neither tables nor streams. */
export const healthController = (context: string): Type => {
  const requests = operationsRequests(context);

  @Controller()
  class HealthNatsController {
    constructor(@Inject(HealthCheck) private readonly health: HealthCheck) {}

    @HandleRequest(requests.health)
    check(): Promise<ServiceHealth> {
      return this.health.check();
    }
  }

  return HealthNatsController;
};

const projectionsController = (context: string): Type => {
  const requests = operationsRequests(context);

  @Controller()
  class ProjectionsNatsController {
    constructor(@Inject(Projections) private readonly projections: Projections) {}

    @HandleRequest(requests.listProjections, { broadcast: true })
    async list(): Promise<{ readonly items: readonly ProjectionView[] }> {
      return { items: await this.projections.list() };
    }

    @HandleRequest(requests.rebuildProjection)
    rebuild(@Payload() { name }: RebuildProjection): Promise<ProjectionView> {
      return this.projections.rebuild(name);
    }
  }

  return ProjectionsNatsController;
};

const deadLettersController = (context: string): Type => {
  const requests = operationsRequests(context);

  @Controller()
  class DeadLettersNatsController {
    constructor(@Inject(DeadLetterOperations) private readonly deadLetters: DeadLetterOperations) {}

    @HandleRequest(requests.listDeadLetters)
    list(@Payload() request: ListDeadLetters): Promise<Page<DeadLetterView>> {
      return this.deadLetters.list(request);
    }

    @HandleRequest(requests.replayDeadLetter)
    async replay(@Payload() { id }: DeadLetterRef): Promise<Record<string, never>> {
      await this.deadLetters.replay(id);
      return {};
    }

    @HandleRequest(requests.deleteDeadLetter)
    async delete(@Payload() { id }: DeadLetterRef): Promise<Record<string, never>> {
      await this.deadLetters.delete(id);
      return {};
    }
  }

  return DeadLettersNatsController;
};
